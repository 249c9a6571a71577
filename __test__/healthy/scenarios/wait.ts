// Waiting for others: CI, roll-outs, servers, sub-agents, providers.

import { source, vitest } from "../outputs.ts";
import { type Scenario, shell } from "../trace.ts";

export const wait: Scenario[] = [
  {
    name: "a CI run watched for forty minutes with a sleep in the command",
    why: "Each poll waits half a minute; the run takes as long as it takes.",
    build(t) {
      t.user("Push, wait for CI and merge when it is green.");
      t.bash("git push -u origin fix/leak", "To github.com:acme/app.git\n * [new branch]      fix/leak -> fix/leak");
      for (let i = 0; i < 60; i++) {
        t.bash("sleep 30 && gh run view 8123 --json status -q .status", "in_progress", { secs: 31 });
      }
      t.bash("sleep 30 && gh run view 8123 --json status -q .status", "completed", { secs: 31 });
      t.bash("gh pr merge 41 --squash", "✓ Squashed and merged pull request #41");
    },
  },
  {
    name: "a sleep as a call of its own between two looks at a job",
    why: "The agent waits a minute before each look.",
    build(t) {
      t.user("The import runs on its own and writes out/status. Tell me when it is through.");
      for (let i = 0; i < 30; i++) {
        t.bash("sleep 60", "(no output)", { secs: 60 });
        t.bash("cat out/status", i < 29 ? "importing" : "done");
      }
    },
  },
  {
    name: "a roll-out to a namespace, pod by pod",
    why: "The pods come up one after the other; namespace and context are flags before the verb.",
    build(t) {
      t.user("Deploy 4.2 to staging and watch it.");
      t.bash("kubectl --context staging -n shop apply -f deploy/", "deployment.apps/web configured");
      for (let i = 0; i < 26; i++) {
        t.wait(12);
        t.bash(
          "kubectl --context staging -n shop get pods",
          `NAME        READY   STATUS    RESTARTS\nweb-7d9f    ${i < 14 ? 0 : 1}/1     ${i < 14 ? "ContainerCreating" : "Running"}   0`,
        );
        t.bash(
          "kubectl --context staging -n shop logs deploy/web --tail 3",
          `${t.noise.time()} INFO  migrating schema, step ${i}`,
        );
      }
      t.bash("kubectl --context staging -n shop rollout status deploy/web", 'deployment "web" successfully rolled out');
    },
  },
  {
    name: "a server that takes its time, asked for its health",
    why: "Connection refused right after a start is what a start looks like.",
    build(t) {
      for (let service = 0; service < 8; service++) {
        t.user(`Start service ${service} and tell me when it is healthy.`);
        t.bash(`./bin/service-${service} > /tmp/s${service}.log 2>&1 &`);
        for (let i = 0; i < 6; i++) {
          t.bash(
            `sleep 2; curl -fsS localhost:80${service}0/health`,
            `curl: (7) Failed to connect to localhost port 80${service}0 after 0 ms: Couldn't connect to server`,
            { code: 7, secs: 2 },
          );
        }
        t.bash(`curl -fsS localhost:80${service}0/health`, '{"status":"up"}');
      }
    },
  },
  {
    name: "sub-agents asked for their results while they run",
    why: "Three children work for several minutes; the parent looks in every half minute.",
    build(t) {
      t.user("Have three agents look into the three flaky tests, then summarise.");
      for (let i = 0; i < 3; i++) {
        t.call(
          "Agent",
          { prompt: `Investigate flaky test ${i}`, run_in_background: true },
          `Agent started. agent_id: ag-${t.noise.hex(8)}`,
        );
      }
      for (let i = 0; i < 18; i++) {
        for (let agent = 0; agent < 3; agent++) {
          t.wait(agent === 0 ? 25 : 0);
          t.call(
            "get_subagent_result",
            { agent_id: `ag-${agent}` },
            "Agent is still running. Use wait: true, or check back later.",
          );
        }
      }
      t.call("get_subagent_result", { agent_id: "ag-0" }, "The test depends on the time zone.");
    },
  },
  {
    name: "one sub-agent asked for its result every few seconds, eight times",
    why: "Eight looks within two minutes are impatient, not stuck.",
    build(t) {
      t.user("Ask an agent for each of the seven modules and wait for it.");
      for (let module = 0; module < 7; module++) {
        t.call("subagent_spawn", { task: `Describe module ${module}` }, `started sub-${module}`);
        for (let i = 0; i < 8; i++) {
          t.wait(10);
          t.call("get_subagent_result", { id: `sub-${module}` }, "status: running");
        }
        t.call("get_subagent_result", { id: `sub-${module}` }, `Module ${module} parses ${module + 2} formats.`);
      }
    },
  },
  {
    name: "notices of background agents that come in together",
    why: "Each notice is of another agent; programs word them alike.",
    build(t) {
      t.user("Start eight background reviews and tell me about each.");
      for (let group = 0; group < 10; group++) {
        t.batch(
          Array.from({ length: 5 }, (_, i) => ({
            tool: "Agent",
            args: { prompt: `Review file ${group * 5 + i}`, run_in_background: true },
            output: `Agent ${group * 5 + i} started`,
          })),
        );
        for (let i = 0; i < 5; i++)
          t.program(`[agent ${group * 5 + i}] completed in ${t.noise.int(20, 90)}s. Use get_result to read it.`);
        t.call("get_result", { group }, source(`review_${group}`, 5));
      }
    },
  },
  {
    name: "a provider that answers 429 and heals, again and again",
    why: "Retries are the provider's matter, and each heals.",
    build(t) {
      t.user("Summarise each of the 40 tickets.");
      for (let i = 0; i < 40; i++) {
        if (i % 4 === 1) {
          for (let attempt = 1; attempt <= 3; attempt++) {
            t.lifecycle("auto_retry_start", { attempt, maxAttempts: 3, errorMessage: "429 rate limited" });
            t.wait(2 ** attempt);
          }
        }
        if (i % 5 === 2) t.call("ticket_read", { id: i }, "429 Too Many Requests", { error: true });
        t.call("ticket_read", { id: i }, `Ticket ${i}: the ${t.noise.pick(["button", "page", "export"])} is broken.`);
        t.write(`out/ticket_${i}.md`, `Ticket ${i}`);
      }
    },
  },
  {
    name: "a registry that cannot be reached for a while during installs",
    why: "The network failed, not the agent; it tries again with a pause and goes on.",
    build(t) {
      t.user("Install the dependencies of all examples.");
      for (let i = 0; i < 14; i++) {
        for (let attempt = 0; attempt < 2; attempt++) {
          t.bash(
            `npm --prefix examples/e${i} install`,
            `npm error code ETIMEDOUT\nnpm error network request to https://registry.example/left-pad failed, reason: connect ETIMEDOUT\nnpm error A complete log of this run can be found in: /home/dev/.npm/_logs/${t.noise.time().replaceAll(":", "_")}-debug-0.log`,
            { code: 1, secs: 20 },
          );
          t.bash("sleep 15", "(no output)", { secs: 15 });
        }
        t.bash(
          `npm --prefix examples/e${i} install`,
          `added ${t.noise.int(80, 300)} packages in ${t.noise.seconds(4, 9)}`,
          { secs: 9 },
        );
      }
    },
  },
  {
    name: "a machine behind a bad line",
    why: "Every second connection drops, and the next one works.",
    build(t) {
      t.user("Collect the facts of the 20 edge machines over ssh.");
      for (let i = 0; i < 20; i++) {
        t.bash(`ssh edge-${i} uptime`, `ssh: connect to host edge-${i} port 22: Connection timed out`, {
          code: 255,
          secs: 20,
        });
        t.bash(
          `ssh -o ConnectTimeout=30 edge-${i} uptime`,
          ` ${t.noise.clock()} up ${i + 3} days,  2:11,  1 user,  load average: 0.${i}`,
        );
        t.bash(`ssh edge-${i} df -h /`, `Filesystem Size Used Avail\n/dev/sda1 40G ${i + 10}G ${30 - i}G`);
      }
    },
  },
  {
    name: "compose services restarted and looked at",
    why: "Each restart is followed by a look; the looks agree because the services come up.",
    build(t) {
      t.user("Tune the pool size of the five services: change, restart, look at the logs, compare.");
      for (let i = 0; i < 20; i++) {
        t.edit("compose.yaml", `POOL: ${i}`, `POOL: ${i + 1}`);
        t.bash(
          "docker compose -f compose.yaml up -d --wait",
          " Container app-db-1  Healthy\n Container app-web-1  Healthy",
          { secs: 12 },
        );
        t.bash(
          "docker compose -f compose.yaml ps",
          "NAME        STATUS\napp-db-1    Up (healthy)\napp-web-1   Up (healthy)",
        );
        t.bash("docker compose -f compose.yaml logs --tail 1 web", `web-1  | pool=${i + 1} p95=${t.noise.int(20, 90)}`);
      }
    },
  },
  {
    name: "parallel batches of calls that look alike",
    why: "One batch is one round, and the rounds differ.",
    build(t) {
      t.user("Compare the five mirrors for each of the 20 files.");
      for (let i = 0; i < 20; i++) {
        t.batch(
          Array.from({ length: 5 }, (_, m) =>
            shell(`sha256sum mirror${m}/file_${i}.bin`, `${"ab12".repeat(16)}  mirror${m}/file_${i}.bin`),
          ),
        );
      }
      t.bash("npm test", vitest(t.noise, 4));
    },
  },
];
