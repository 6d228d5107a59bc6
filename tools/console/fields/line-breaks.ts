/** Line breaks as a textarea returns them. */
export const normalizeLineBreaks = (text: string): string => text.replaceAll(/\r\n?/g, '\n')

/**
 * Applies an edit of the normalized text to the stored one: unchanged parts keep their line breaks, new lines get the first line break
 * of the stored text. Linear in the length of the text.
 */
export function mergeLineBreaks(stored: string, typed: string): string {
  const shown = normalizeLineBreaks(stored)
  if (shown === typed) return stored
  const limit = Math.min(shown.length, typed.length)
  let start = 0
  while (start < limit && shown[start] === typed[start]) start++
  let end = 0
  while (end < limit - start && shown.at(-1 - end) === typed.at(-1 - end)) end++
  const [lineBreak = '\n'] = /\r\n?|\n/.exec(stored) ?? []
  const middle = typed.slice(start, typed.length - end).replaceAll('\n', lineBreak)
  return (
    stored.slice(0, storedOffset(stored, start)) +
    middle +
    stored.slice(storedOffset(stored, shown.length - end))
  )
}

/** Offset in the stored text of an offset in the normalized one. */
function storedOffset(stored: string, shownOffset: number): number {
  let offset = 0
  for (let count = 0; count < shownOffset; count++) offset += stored.startsWith('\r\n', offset) ? 2 : 1
  return offset
}
