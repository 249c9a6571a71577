// Every Rust file of the tree, also those whose modules a macro declares, which `cargo fmt` does not find.

import { globSync } from "node:fs";
import { root } from "./native.mjs";

export const rustFiles = () =>
  globSync("{build.rs,src/**/*.rs,fuzz/**/*.rs}", { cwd: root })
    .filter((path) => !path.includes("target"))
    .sort();
