// Git: bisecting, rebasing, a commit for every step.

import { CLEAN, committed, pytest, source, vitest } from "../outputs.ts";
import type { Scenario } from "../trace.ts";

export const git: Scenario[] = [
  {
    name: "three bisects with one test command",
    why: "Git checks out another revision after each verdict; long rows of equal verdicts are how bisecting goes.",
    build(t) {
      for (const [round, command] of ["npm test -- parse", "npm test -- render", "npm test -- save"].entries()) {
        t.user(`The ${command.slice(12)} test broke somewhere since v2.${round}. Find the commit.`);
        t.bash(`git bisect start HEAD v2.${round}`, "status: waiting for both good and bad commits");
        for (let i = 0; i < 10; i++) {
          const bad = i === 2 || i === 9;
          t.bash(command, vitest(t.noise, bad ? 30 : 31, bad ? ["src/a.test.ts > works"] : []), {
            code: bad ? 1 : 0,
            secs: 12,
          });
          const left = 1024 >> i;
          t.bash(
            `git bisect ${bad ? "bad" : "good"}`,
            `Bisecting: ${left} revisions left to test after this (roughly ${10 - i} steps)\n[${t.noise.hex(40)}] change ${t.noise.int(100, 999)}`,
          );
        }
        t.bash("git bisect reset", "Previous HEAD position was 3c1d0e2 wip\nSwitched to branch 'main'");
      }
    },
  },
  {
    name: "a bisect driven by plain checkouts and a build script",
    why: "Another revision is tested each time.",
    build(t) {
      t.user("Find the commit that made startup slow. Build and time each candidate.");
      for (let i = 0; i < 18; i++) {
        const revision = t.noise.hex(8);
        t.bash(`git -C ../app checkout -q ${revision}`);
        t.bash("./build.sh --release", "build ok", { secs: 30 });
        t.bash("./bench/startup.sh", i > 12 ? "startup: fast" : "startup: slow", { secs: 5 });
      }
    },
  },
  {
    name: "a rebase in which every commit conflicts in the changelog",
    why: "The same conflict comes once per commit, and each is resolved.",
    build(t) {
      t.user("Rebase the feature branch onto main. In CHANGELOG.md take ours.");
      t.bash(
        "git rebase main",
        "Auto-merging CHANGELOG.md\nCONFLICT (content): Merge conflict in CHANGELOG.md\nerror: could not apply 1f00aa1... step 0",
        { code: 1 },
      );
      for (let i = 1; i < 26; i++) {
        t.bash("git checkout --ours CHANGELOG.md", "Updated 1 path from the index");
        t.bash("git add CHANGELOG.md");
        t.bash(
          "GIT_EDITOR=true git rebase --continue",
          `[detached HEAD ${t.noise.hex(7)}] step ${i - 1}\nAuto-merging CHANGELOG.md\nCONFLICT (content): Merge conflict in CHANGELOG.md\nerror: could not apply ${t.noise.hex(7)}... step ${i}\nhint: Resolve all conflicts manually`,
          { code: 1 },
        );
      }
      t.bash("git checkout --ours CHANGELOG.md", "Updated 1 path from the index");
      t.bash("git add CHANGELOG.md");
      t.bash("GIT_EDITOR=true git rebase --continue", "Successfully rebased and updated refs/heads/feature.");
    },
  },
  {
    name: "a commit for every step, with the same clean status after each",
    why: "Each status answers a new commit.",
    build(t) {
      t.user("Fix the 30 lint findings, one commit each.");
      for (let i = 0; i < 30; i++) {
        t.edit(`lib/rule${i}.rb`, "== nil", ".nil?");
        t.bash("git add -A");
        t.bash(`git commit -m 'Use nil? in rule${i}'`, committed(t.noise, `Use nil? in rule${i}`));
        t.bash("git status", CLEAN);
      }
    },
  },
  {
    name: "`pwd`, `git branch` and `ls` in between, while a repository is read",
    why: "The agent makes sure where it is; many new things are seen between two such looks.",
    build(t) {
      t.user("Explain how this repository is organised. Read as much as you need.");
      for (let i = 0; i < 55; i++) {
        t.read(`crates/c${i}/src/lib.rs`, source(`crates/c${i}/src/lib.rs`, 30));
        if (i % 7 === 0) t.bash("pwd", "/home/dev/engine");
        if (i % 9 === 4) t.bash("git branch --show-current", "main");
        if (i % 10 === 6) t.bash("ls", "Cargo.lock\nCargo.toml\nREADME.md\ncrates\ndocs\n");
      }
    },
  },
  {
    name: "cherry-picks of forty fixes, tests after each",
    why: "Another commit each time.",
    build(t) {
      t.user("Backport these 40 commits to release/3.x one by one; run the tests after each.");
      for (let i = 0; i < 40; i++) {
        const hash = t.noise.hex(10);
        t.bash(`git cherry-pick -x ${hash}`, committed(t.noise, `fix ${i}`, "release/3.x"));
        t.bash("python -m pytest -q -x", pytest(t.noise, 341), { secs: 20 });
      }
    },
  },
  {
    name: "submodules of one repository updated from their own folders",
    why: "Another repository each time, by `git -C`.",
    build(t) {
      t.user("Update each vendored repository and make sure our build stays green.");
      for (let i = 0; i < 30; i++) {
        t.bash(`git -C vendor/lib${i} pull --ff-only`, `Updating ${t.noise.hex(7)}..${t.noise.hex(7)}\nFast-forward`);
        t.bash("make -s check", "all checks passed", { secs: 10 });
      }
    },
  },
];
