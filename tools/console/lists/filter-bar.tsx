import { useListContext } from 'ra-core'
import { useEffect, useState } from 'react'
import type { FilterCondition, ListFilter } from '../api/data-provider.ts'
import { type AttributeInfo, type TypeInfo, toLabel } from '../api/schema.ts'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'

const TEXT = ['$containsi', '$eqi', '$startsWithi', '$endsWithi', '$notContainsi', '$null', '$notNull']
const NUMBER = ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte', '$null', '$notNull']
const CHOICE = ['$eq', '$ne', '$null', '$notNull']

/** docs/rest.md, "filters": the operators that an attribute of each type is offered. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  string: TEXT,
  text: TEXT,
  richtext: TEXT,
  uid: TEXT,
  email: TEXT,
  integer: NUMBER,
  biginteger: NUMBER,
  decimal: NUMBER,
  float: NUMBER,
  date: NUMBER,
  time: NUMBER,
  datetime: NUMBER,
  enumeration: CHOICE,
  boolean: CHOICE,
  array: ['$contains', '$notContains'],
  relation: ['$null', '$notNull'],
}

export function FilterBar({ type }: { readonly type: TypeInfo }) {
  const words = useWords()
  const schema = useSchema()
  const { filterValues, setFilters } = useListContext()
  const filter = filterValues as ListFilter
  const change = (part: Partial<ListFilter>) => {
    const whole = Object.entries({ ...filter, ...part }).filter(([, value]) => value && value.length > 0)
    setFilters(Object.fromEntries(whole), undefined, false)
  }
  const [text, setText] = useTyping(filter.text ?? '', value => change({ text: value }))
  return (
    <search className="filters">
      <label>
        {words('search')}
        <input type="search" value={text} onChange={event => setText(event.target.value)} />
      </label>
      {type.localized && schema.locales.length > 1 && (
        <label>
          {words('contentLocale')}
          <select
            value={filter.locale ?? schema.defaultLocale ?? ''}
            onChange={event => change({ locale: event.target.value })}
          >
            {schema.locales.map(locale => (
              <option key={locale}>{locale}</option>
            ))}
          </select>
        </label>
      )}
      {type.draftAndPublish && type.actions.has('readDrafts') && (
        <label>
          {words('status')}
          <select value={filter.status ?? ''} onChange={event => change({ status: event.target.value })}>
            <option value="">{words('all')}</option>
            <option value="draft">{words('draft')}</option>
            <option value="published">{words('published')}</option>
            <option value="modified">{words('modified')}</option>
          </select>
        </label>
      )}
      <Conditions type={type} conditions={filter.where ?? []} onChange={where => change({ where })} />
    </search>
  )
}

interface ConditionsProps {
  readonly type: TypeInfo
  readonly conditions: readonly FilterCondition[]
  readonly onChange: (conditions: readonly FilterCondition[]) => void
}

function Conditions({ type, conditions, onChange }: ConditionsProps) {
  const words = useWords()
  const attributes = type.attributes.filter(({ readable, type: kind }) => readable && OPERATORS[kind])
  const first = attributes[0]
  if (!first) return null
  const replace = (index: number, condition: FilterCondition) => onChange(conditions.with(index, condition))
  return (
    <>
      {conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
        <fieldset key={index} className="condition">
          <legend>{words('condition')}</legend>
          <ConditionInputs
            attributes={attributes}
            condition={condition}
            onChange={changed => replace(index, changed)}
          />
          <button
            type="button"
            className="quiet"
            aria-label={words('remove')}
            onClick={() => onChange(conditions.toSpliced(index, 1))}
          >
            ✕
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        onClick={() =>
          onChange([...conditions, { name: first.name, operator: defaultOperator(first), value: '' }])
        }
      >
        {words('addFilter')}
      </button>
    </>
  )
}

const defaultOperator = (attribute: AttributeInfo): string => OPERATORS[attribute.type]?.[0] ?? '$eq'

interface ConditionInputsProps {
  readonly attributes: readonly AttributeInfo[]
  readonly condition: FilterCondition
  readonly onChange: (condition: FilterCondition) => void
}

function ConditionInputs({ attributes, condition, onChange }: ConditionInputsProps) {
  const words = useWords()
  const attribute = attributes.find(({ name }) => name === condition.name)
  const setValue = (value: string) => onChange({ ...condition, value })
  return (
    <>
      <select
        aria-label={words('attribute')}
        value={condition.name}
        onChange={event => {
          const chosen = attributes.find(({ name }) => name === event.target.value)
          if (chosen) onChange({ name: chosen.name, operator: defaultOperator(chosen), value: '' })
        }}
      >
        {attributes.map(({ name }) => (
          <option key={name} value={name}>
            {toLabel(name)}
          </option>
        ))}
      </select>
      <select
        aria-label={words('operator')}
        value={condition.operator}
        onChange={event => onChange({ ...condition, operator: event.target.value })}
      >
        {(OPERATORS[attribute?.type ?? ''] ?? []).map(operator => (
          <option key={operator} value={operator}>
            {words(operator as '$eq')}
          </option>
        ))}
      </select>
      {!condition.operator.endsWith('ull') && (
        <ConditionValue attribute={attribute} value={condition.value} onChange={setValue} />
      )}
    </>
  )
}

interface ConditionValueProps {
  readonly attribute: AttributeInfo | undefined
  readonly value: string
  readonly onChange: (value: string) => void
}

function ConditionValue({ attribute, value, onChange }: ConditionValueProps) {
  const words = useWords()
  const [typed, setTyped] = useTyping(value, onChange)
  const choices = attribute?.type === 'boolean' ? ['true', 'false'] : (attribute?.values ?? [])
  if (choices.length > 0)
    return (
      <select aria-label={words('value')} value={value} onChange={event => onChange(event.target.value)}>
        <option value="">…</option>
        {choices.map(choice => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    )
  return (
    <input
      aria-label={words('value')}
      type={attribute?.type === 'date' ? 'date' : 'text'}
      value={typed}
      onChange={event => setTyped(event.target.value)}
    />
  )
}

/** Text that becomes the state of the address only when typing has paused for a moment. */
export function useTyping(value: string, apply: (value: string) => void): [string, (value: string) => void] {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => apply(typed), 300)
    return () => clearTimeout(timer)
  })
  return [typed, setTyped]
}
