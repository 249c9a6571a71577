// All healthy scenarios. Each looks like a loop and is none.

import type { Scenario } from "../trace.ts";
import { code } from "./code.ts";
import { data } from "./data.ts";
import { git } from "./git.ts";
import { talk } from "./talk.ts";
import { wait } from "./wait.ts";
import { web } from "./web.ts";

export const scenarios: readonly Scenario[] = [...code, ...git, ...wait, ...data, ...web, ...talk];
