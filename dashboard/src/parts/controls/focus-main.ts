/** Moves the focus to the screen; for use after the focused element was removed. */
export const focusMain = (): void => document.querySelector('main')?.focus();
