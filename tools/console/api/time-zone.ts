/** Local time of a datetime-local input to an ISO time in UTC. Other text is returned unchanged: the server reports it. */
export function toUtc(typed: string): string {
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? typed : time.toISOString()
}

/** An ISO time in UTC to the local time of a datetime-local input, without a zone. */
export function toLocal(text: string): string {
  const time = new Date(text)
  if (text === '' || Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local
    .toISOString()
    .replace(/:00\.000Z$/, '')
    .replace(/\.000Z$|Z$/, '')
}
