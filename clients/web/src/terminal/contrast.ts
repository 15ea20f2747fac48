/** WCAG 2.2, 1.4.3: programs choose colours for a dark ground, and some for none. */
export const CONTRAST = 4.5;
