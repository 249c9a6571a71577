// Browsers, searches and pages.

import { source } from "../outputs.ts";
import type { Scenario } from "../trace.ts";

export const web: Scenario[] = [
  {
    name: "a feed scrolled with a constant answer, and looked at after each scroll",
    why: "Each look shows what was not there before.",
    build(t) {
      t.user("Collect the last 200 posts of the feed.");
      for (let i = 0; i < 30; i++) {
        t.call("browser_scroll", { direction: "down" }, "Scrolled down by 600 px");
        t.call("browser_snapshot", {}, source(`posts_${i}`, 8, i * 8));
        if (i % 6 === 5) t.call("browser_wait_for", { time: 2 }, "Waited for 2 s", { secs: 2 });
      }
    },
  },
  {
    name: "a form filled page by page with one Next button",
    why: "The button is the same, the pages are not.",
    build(t) {
      t.user("Fill in the 25-page questionnaire with answers.json.");
      t.read("answers.json", source("answers.json", 60));
      for (let i = 0; i < 25; i++) {
        t.call("browser_fill", { selector: `#q${i}`, text: `answer ${i}` }, "ok");
        t.call("browser_click", { selector: "#next" }, "Clicked");
        t.call("browser_snapshot", {}, `Page ${i + 2} of 26\nQuestion ${i + 1}: …`);
      }
    },
  },
  {
    name: "keys pressed in a game that answers with its screen",
    why: "The board changes with each key.",
    build(t) {
      t.user("Play the first level.");
      for (let i = 0; i < 60; i++) {
        t.call(
          "press_key",
          { key: t.noise.pick(["Up", "Down", "Left", "Right", "Right", "Right"]) },
          `score ${i * 10}\n${"#".repeat((i % 9) + 1)}@`,
        );
      }
    },
  },
  {
    name: "research with many searches, some empty, pages in between",
    why: "What is not found is followed by another question, and pages bring news.",
    build(t) {
      t.user("Write an overview of open-source CRDT libraries with sources.");
      for (let i = 0; i < 30; i++) {
        const empty = i % 5 < 3;
        t.call(
          "web_search",
          { query: `crdt library ${t.noise.pick(["rust", "go", "c++", "java", "elixir"])} ${i}` },
          empty ? "No results found." : source(`results_${i}`, 6),
        );
        if (!empty || i % 2 === 0)
          t.call("web_fetch", { url: `https://example.org/page/${i}` }, source(`page_${i}`, 40));
      }
      t.write("overview.md", "# CRDT libraries");
    },
  },
  {
    name: "pages that cannot be fetched, each from another host",
    why: "Some sites refuse; others are read in between.",
    build(t) {
      t.user("Check the 40 links of the bibliography.");
      for (let i = 0; i < 40; i++) {
        if (i % 3 === 1)
          t.call(
            "web_fetch",
            { url: `https://site${i}.example/paper` },
            `HTTP 403 Forbidden: https://site${i}.example/paper`,
            { error: true },
          );
        else t.call("web_fetch", { url: `https://site${i}.example/paper` }, source(`paper_${i}`, 20));
      }
      for (let i = 0; i < 12; i++) t.call("web_fetch", { url: `https://archive.example/${i}` }, source(`copy_${i}`, 9));
    },
  },
  {
    name: "an API tried out endpoint by endpoint with curl",
    why: "Another endpoint each time, many with the same empty list.",
    build(t) {
      t.user("Go through all endpoints of the fresh instance and note what they answer.");
      for (let i = 0; i < 50; i++)
        t.bash(`curl -s localhost:8080/api/v1/resource${i}`, i % 4 === 0 ? '{"error":"not found"}' : "[]");
    },
  },
];
