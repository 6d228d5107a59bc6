/** A textarea has only `\n`: it shows `\r\n` and `\r` as that. */
export const toShown = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/**
 * The stored text after an edit of what was shown: what the user did not change keeps its line breaks, and new lines get the one that
 * the text begins with. Linear in the length of the text.
 */
export function applyTyped(stored: string, typed: string): string {
  const shown = toShown(stored)
  if (shown === typed) return stored
  const most = Math.min(shown.length, typed.length)
  let start = 0
  while (start < most && shown[start] === typed[start]) start++
  let end = 0
  while (end < most - start && shown.at(-1 - end) === typed.at(-1 - end)) end++
  const [lineBreak = '\n'] = /\r\n?|\n/.exec(stored) ?? []
  const middle = typed.slice(start, typed.length - end).replaceAll('\n', lineBreak)
  return stored.slice(0, placeIn(stored, start)) + middle + stored.slice(placeIn(stored, shown.length - end))
}

/** The place in the stored text of a place in the shown one. */
function placeIn(stored: string, shownPlace: number): number {
  let place = 0
  for (let count = 0; count < shownPlace; count++) place += stored.startsWith('\r\n', place) ? 2 : 1
  return place
}
