import type { Finding } from '../faults.ts'
import type { Settings } from '../settings/settings.ts'

/** One thing that the schema cannot say. Answers every place where it does not hold. */
export type Rule = (settings: Settings) => Iterable<Finding>
