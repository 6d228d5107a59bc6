/** The text without such characters at its end. An expression such as `/x+$/` takes quadratic time. */
export function trimEndOf(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** The text without such characters at both ends. */
export function trimOf(text: string, character: string): string {
  let start = 0
  while (start < text.length && text[start] === character) start++
  return trimEndOf(text.slice(start), character)
}

/** A decimal without the zeros at its end, and without a point that nothing follows: `1.50` → `1.5`, `2.0` → `2`. */
export function trimDecimal(text: string): string {
  return text.includes('.') ? trimEndOf(trimEndOf(text, '0'), '.') : text
}
