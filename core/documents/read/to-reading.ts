import { detachString, entityTag, memoryBytes } from '../../base/text.ts'
import type { CacheableRead } from '../../cache/answer-store.ts'
import type { Answer, ParameterValue } from '../../sql/nodes.ts'
import { type ProvableTemplate, printProvable } from '../../sql/print-provable.ts'
import { bind, type Template, toKeep } from '../../sql/template.ts'
import { makeOf, planOnce, sizeOfTemplate } from './plan-once.ts'

/** With names of its texts, which are long. */
interface Named extends ProvableTemplate {
  readonly name: string
  readonly totalName: string
}

function nameAll(answer: Answer): Named {
  const printed = printProvable(answer)
  const total = printed.total && toKeep(printed.total)
  return {
    ...toKeep(printed),
    plain: detachString(printed.plain),
    version: detachString(printed.version),
    total,
    name: entityTag(printed.text),
    totalName: entityTag(total?.text ?? ''),
  }
}

const plan = planOnce(nameAll, template => {
  const { plain, version, total } = template
  return (
    sizeOfTemplate(template) + memoryBytes(plain) + memoryBytes(version) + (total ? sizeOfTemplate(total) : 0)
  )
})

/** The statement of a query whose answer can be kept; planned and printed as that of one whose answer is not. */
export const toReading = makeOf(plan, ({ template, values }): CacheableRead => {
  const { total, version, plain, name, totalName } = template
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
