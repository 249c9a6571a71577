// How to see more of something, with the user's own key. Pi before 1.5 does not say which key that is.

interface Hinting {
  keyHint?: (keybinding: "app.tools.expand", description: string) => string;
}

export const expandHint = (context: Hinting): string => context.keyHint?.("app.tools.expand", "to expand") ?? "expand";
