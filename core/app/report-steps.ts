/** More of a kind than this are told as their number and the first few. */
const TOLD_SINGLY = 5

const NEW_TABLE = /^create table "(.*?)"/

/** The steps of a migration for a log: each by itself, but new tables together where there are many. */
export function tellSteps(steps: readonly string[]): readonly string[] {
  const tables = steps.flatMap(step => NEW_TABLE.exec(step)?.[1] ?? [])
  if (tables.length <= TOLD_SINGLY) return steps
  const others = steps.filter(step => !NEW_TABLE.test(step))
  const named = tables.slice(0, TOLD_SINGLY).join(', ')
  return [`Created ${tables.length} tables: ${named} and ${tables.length - TOLD_SINGLY} more`, ...others]
}
