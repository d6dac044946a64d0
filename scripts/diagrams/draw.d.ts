/** The SVG image of a description. */
export function drawDiagram(text: string): string;
