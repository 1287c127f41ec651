/** To the screen, where what had the focus is gone. */
export const focusMain = (): void => document.querySelector('main')?.focus();
