import { detachString, entityTag, memoryBytes } from '../../base/text.ts'
import type { CacheableRead } from '../../cache/answer-store.ts'
import type { AnswerStatement, ParameterValue } from '../../sql/nodes.ts'
import { printVersioned, type VersionedTemplate } from '../../sql/print.ts'
import { bind, type Template, toKeep } from '../../sql/statement.ts'
import { makeOf, planOnce, sizeOfTemplate } from './plan-once.ts'

/** With names of its texts, which are long. */
interface NamedTemplate extends VersionedTemplate {
  readonly name: string
  readonly totalName: string
}

function nameAll(answer: AnswerStatement): NamedTemplate {
  const printed = printVersioned(answer)
  const total = printed.total && toKeep(printed.total)
  return {
    ...toKeep(printed),
    uncachedText: detachString(printed.uncachedText),
    version: detachString(printed.version),
    total,
    name: entityTag(printed.text),
    totalName: entityTag(total?.text ?? ''),
  }
}

const plan = planOnce(nameAll, template => {
  const { uncachedText: plain, version, total } = template
  return (
    sizeOfTemplate(template) + memoryBytes(plain) + memoryBytes(version) + (total ? sizeOfTemplate(total) : 0)
  )
})

/** The statement of a query whose answer can be kept; planned and printed as that of one whose answer is not. */
export const toCacheableRead = makeOf(plan, ({ template, values }): CacheableRead => {
  const { total, version, uncachedText: plain, name, totalName } = template
  const statement = bind(template, values)
  return {
    key: name + JSON.stringify(statement.values),
    statement,
    uncachedText: plain,
    version,
    totalKey: total && totalName + keyOf(total, values),
  }
})

const keyOf = (total: Template, values: readonly ParameterValue[]): string =>
  JSON.stringify(bind(total, values).values)
