// Data and systems: logs, notebooks, SQL, REPLs, loads, file operations.

import { source } from "../outputs.ts";
import type { Scenario } from "../trace.ts";

export const data: Scenario[] = [
  {
    name: "a 6000-line log read page by page",
    why: "Each page shows lines that were not seen.",
    build(t) {
      t.user("Read the whole of app.log and tell me what happened.");
      for (let page = 0; page < 60; page++) {
        t.read("app.log", source("app.log", 100, page * 100 + 1), { offset: page * 100 + 1, limit: 100 });
      }
    },
  },
  {
    name: "a log searched with tail, grep and sed for an hour",
    why: "The log grows, and the questions differ.",
    build(t) {
      t.user("Users report timeouts. Watch the log while I try things.");
      for (let i = 0; i < 40; i++) {
        t.bash("tail -5 /var/log/app/web.log", `${t.noise.time()} INFO request ${t.noise.int(1000, 9999)} ok`);
        t.bash(
          `grep -n 'req-${t.noise.hex(6)}' /var/log/app/web.log`,
          i % 3 === 0 ? "" : `${i * 40}:timeout after 30 s in stage ${i}`,
          { code: i % 3 === 0 ? 1 : 0 },
        );
        t.bash(`sed -n '${i * 40},${i * 40 + 20}p' /var/log/app/web.log`, source("web.log", 20, i * 40));
      }
    },
  },
  {
    name: "seven membership checks without a hit, then the next group",
    why: "That a name is unused is an answer; after each group it is removed.",
    build(t) {
      t.user("Remove the exports that nobody uses.");
      for (let group = 0; group < 9; group++) {
        for (let i = 0; i < 7; i++)
          t.call("grep", { pattern: `helper${group}_${i}\\b`, path: "src" }, "No matches found");
        t.edit("src/index.ts", `export * from "./group${group}";\n`, "");
      }
    },
  },
  {
    name: "absence made sure of by searching, with the code read in between",
    why: "Empty searches are what a security review hopes for; each is followed by new code.",
    build(t) {
      t.user("Audit the service for dangerous calls, file by file.");
      const dangers = [
        "eval",
        "exec",
        "spawn",
        "Function",
        "innerHTML",
        "deserialize",
        "pickle",
        "md5",
        "system",
        "popen",
      ];
      for (let i = 0; i < 30; i++) {
        t.read(`src/service/s${i}.js`, source(`src/service/s${i}.js`, 50));
        t.bash(`rg -n '\\b${dangers[i % 10]}\\(' src/service/s${i}.js`, "", { code: 1 });
      }
    },
  },
  {
    name: "a notebook: cells run, changed and run again",
    why: "The cells differ or their outputs do; some print nothing, as assignments do.",
    build(t) {
      t.user("Explore the churn data and build a first model.");
      for (let i = 0; i < 40; i++) {
        t.call(
          "notebook_edit",
          { notebook_path: "churn.ipynb", cell_id: `c${i}`, new_source: `df${i} = df${i - 1}.dropna()` },
          "Cell updated",
        );
        t.call(
          "notebook_execute",
          { notebook_path: "churn.ipynb", cell_id: `c${i}` },
          i % 2 === 0 ? "" : `rows: ${9000 - i * 13}`,
        );
      }
    },
  },
  {
    name: "an SQL session with many statements that return nothing",
    why: "Statements that define and change return no rows.",
    build(t) {
      t.user("Create the reporting schema from docs/schema.md.");
      for (let i = 0; i < 25; i++) {
        t.call("query", { sql: `CREATE TABLE report_${i} (id bigint PRIMARY KEY, total numeric)` }, "[]");
        t.call("query", { sql: `INSERT INTO report_${i} SELECT id, sum(total) FROM orders_${i} GROUP BY id` }, "[]");
      }
      t.call(
        "query",
        { sql: "SELECT count(*) FROM information_schema.tables WHERE table_name LIKE 'report_%'" },
        '[{"count":25}]',
      );
    },
  },
  {
    name: "the count asked again after every batch of a load",
    why: "The count grows.",
    build(t) {
      t.user("Load the dump in batches of 500 and check the count after each.");
      for (let i = 0; i < 40; i++) {
        t.bash(`python load.py --offset ${i * 500} --limit 500`, "loaded 500 rows");
        t.bash('psql -Atc "select count(*) from events"', String((i + 1) * 500));
      }
    },
  },
  {
    name: "a load in batches that is checked with one verifier, which always says ok",
    why: "The batches change the database; the verifier is asked after each.",
    build(t) {
      t.user("Load the dump in batches and verify after each batch.");
      for (let i = 0; i < 35; i++) {
        t.bash(`python load.py --offset ${i * 500} --limit 500`, "loaded 500 rows");
        t.bash("python verify.py", "constraints ok, 0 orphans");
      }
    },
  },
  {
    name: "a REPL in a terminal multiplexer",
    why: "Keys are sent and the screen answers; that sending answers nothing is normal.",
    build(t) {
      t.user("Step through the debugger in tmux session dbg until the value of `n` is wrong.");
      for (let i = 0; i < 40; i++) {
        t.bash("tmux send-keys -t dbg n Enter");
        t.bash("tmux capture-pane -p -t dbg | tail -4", `(gdb) n\n${i + 118}\t  n = next(n, ${i});\n(gdb)`);
      }
    },
  },
  {
    name: "a debugger stepped with one tool",
    why: "Each step stops at another line.",
    build(t) {
      t.user("Find where total becomes negative.");
      for (let i = 0; i < 60; i++) {
        t.call("debugger", { command: "step_over" }, `stopped at cart.py:${i + 20}\nlocals: total=${500 - i * 7}`);
      }
    },
  },
  {
    name: "directories made, files touched and moved, all in silence",
    why: "Another path each time; silence is success.",
    build(t) {
      t.user("Reorganise the assets by year.");
      for (let i = 0; i < 28; i++) {
        t.bash(`mkdir -p assets/${1998 + i}`);
        t.bash(`mv raw/*_${1998 + i}_* assets/${1998 + i}/`);
        t.bash(`touch assets/${1998 + i}/.keep`);
        if (i % 5 === 4) t.bash("ls raw | wc -l", String(300 - i * 10));
      }
    },
  },
  {
    name: "idempotent scripts run twice each",
    why: "The second run is to show that nothing changes.",
    build(t) {
      t.user("Check that each of the setup scripts is idempotent: run it twice.");
      for (let i = 0; i < 30; i++) {
        t.bash(`./setup/${String(i).padStart(2, "0")}.sh`, "ok: nothing to do");
        t.bash(`./setup/${String(i).padStart(2, "0")}.sh`, "ok: nothing to do");
      }
    },
  },
  {
    name: "an ML sweep: one evaluation after each training run",
    why: "Each run trains with other parameters; some are no better.",
    build(t) {
      t.user("Try the 30 learning rates in sweep.txt and tell me the best.");
      for (let i = 0; i < 30; i++) {
        t.bash(
          `python train.py --lr 1e-${(i % 6) + 1} --seed ${i}`,
          `epoch 10 loss ${t.noise.between(0.2, 0.9).toFixed(4)}`,
          { secs: 90 },
        );
        t.bash("python evaluate.py --checkpoint last", "accuracy: 0.91", { secs: 10 });
      }
    },
  },
  {
    name: "permissions and ownership looked at, one path at a time",
    why: "Another path each time.",
    build(t) {
      t.user("Verify that the deploy set mode 644 on all configs.");
      for (let i = 0; i < 55; i++) t.bash(`stat -c %a /etc/app/conf.d/${i}.conf`, "644");
    },
  },
  {
    name: "refusals by the system, each healed by another way",
    why: "Another thing is refused each time, and the agent finds the allowed way.",
    build(t) {
      t.user("Set the machine up as in docs/setup.md.");
      for (let i = 0; i < 14; i++) {
        t.bash(
          `cp units/app${i}.service /etc/systemd/system/`,
          `cp: cannot create regular file '/etc/systemd/system/app${i}.service': Permission denied`,
          { code: 1 },
        );
        t.bash(`sudo cp units/app${i}.service /etc/systemd/system/`);
        t.bash(`systemctl --user cat app${i}`, source(`app${i}.service`, 8));
        t.bash(`sudo systemctl enable app${i}`, `Created symlink app${i}.service`);
      }
    },
  },
];
