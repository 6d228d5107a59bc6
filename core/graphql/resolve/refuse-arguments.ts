import { type Attribute, isLink } from '../../model/model.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { parsePage } from '../parse/parse-page.ts'
import { parseRows } from '../parse/parse-rows.ts'
import { must } from '../parse/to-graphql-error.ts'

/** Throws what is wrong with the arguments of a list that is not in its row, if that is why. */
export function refuseArguments(attribute: Attribute, given: Arguments): void {
  const holder = isLink(attribute)
    ? attribute.target
    : attribute.kind === 'component'
      ? attribute.component
      : null
  if (!holder) return
  must(parseRows(holder, given))
  must(parsePage(given.pagination, NO_LIMITS))
}

const NO_LIMITS = { amountLimit: Number.MAX_SAFE_INTEGER, defaultLimit: 1 }
