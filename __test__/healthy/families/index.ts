// All healthy families.

import { lives } from "./lives.ts";
import type { FamilyScenario } from "./stage.ts";
import { together } from "./together.ts";
import { waiting } from "./waiting.ts";

export const families: readonly FamilyScenario[] = [...waiting, ...together, ...lives];
