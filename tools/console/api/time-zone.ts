/** A time that a browser's input has, as it is stored; what is no time is left to the server. */
export function toUtc(typed: string): string {
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? typed : time.toISOString()
}

/** `2024-02-29T12:00:00.000Z` as the clock on the wall shows it, without a zone. */
export function toLocal(text: string): string {
  const time = new Date(text)
  if (text === '' || Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local
    .toISOString()
    .replace(/:00\.000Z$/, '')
    .replace(/\.000Z$|Z$/, '')
}
