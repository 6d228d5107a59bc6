import { entityTag } from '../base/entity-tag.ts'
import type { Reading } from '../cache/reading.ts'
import type { Answer, ParameterValue } from '../sql/nodes.ts'
import { type ProvableTemplate, printProvable } from '../sql/print-provable.ts'
import { bind, type Template } from '../sql/template.ts'
import { makeOf, planOnce } from './plan-once.ts'

/** With names of its texts, which are long. */
interface Named extends ProvableTemplate {
  readonly name: string
  readonly totalName: string
}

const nameAll = (answer: Answer): Named => {
  const template = printProvable(answer)
  return { ...template, name: entityTag(template.text), totalName: entityTag(template.total?.text ?? '') }
}

const plan = planOnce(
  nameAll,
  ({ text, plain, total }) => text.length + plain.length + (total?.text.length ?? 0),
)

/** The statement of a query whose answer can be kept; planned and printed as that of one whose answer is not. */
export const toReading = makeOf(plan, ({ template, values }): Reading => {
  const { total, version, plain, name, totalName } = template
  const statement = bind(template, values)
  return {
    key: name + JSON.stringify(statement.values),
    statement,
    plain,
    version,
    totalKey: total && totalName + keyOf(total, values),
  }
})

const keyOf = (total: Template, values: readonly ParameterValue[]): string =>
  JSON.stringify(bind(total, values).values)
