/** `2027-02-30` is well-formed, and JavaScript would read it as the 2nd of March. Only the day of a moment counts. */
export function isRealDay(text: string): boolean {
  const [day = ''] = text.split(/[T ]/)
  const moment = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day)
}

/** A day or a time that a calendar and a clock have. */
export const isMoment = (text: string): boolean => isRealDay(text) && !Number.isNaN(Date.parse(text))
