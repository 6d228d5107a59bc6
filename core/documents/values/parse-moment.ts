import type { Result } from '../../base/result.ts'
import { trimDecimal } from '../../base/text.ts'
import type { InvalidValue } from '../../query/parse-moment.ts'
import * as query from '../../query/parse-moment.ts'
import { format, type ParseOutcome } from './value-fault.ts'

/** Dates and times are read in bodies as they are in filters (reference/rest.md#3-attribute-values). */
const reading =
  (parse: (value: unknown) => Result<string, InvalidValue>) =>
  (value: unknown): ParseOutcome => {
    const parsed = parse(value)
    return parsed.ok
      ? { stored: parsed.value }
      : {
          refusal: format(
            parsed.reasons.map(({ message, expected }) => message ?? `must be ${expected}`).join(', '),
          ),
        }
  }

export const parseDate = reading(query.parseDateValue)

export const parseDatetime = reading(query.parseDateTime)

const parseClock = reading(query.parseTimeValue)

/** Trailing zeros go, as they do in answers. */
export function parseTime(value: unknown): ParseOutcome {
  const parsed = parseClock(value)
  if (!('stored' in parsed) || typeof parsed.stored !== 'string') return parsed
  return { stored: trimDecimal(parsed.stored) }
}
