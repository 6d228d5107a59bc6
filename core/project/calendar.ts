/** Whether the day exists: JavaScript would read `2027-02-30` as the 2nd of March. Ignores the time of day. */
export function isRealDay(text: string): boolean {
  const [day = ''] = text.split(/[T ]/)
  const moment = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day)
}

/** Whether the text is a valid date, or a valid date and time. */
export const isMoment = (text: string): boolean => isRealDay(text) && !Number.isNaN(Date.parse(text))
