import { useListContext } from 'ra-core'
import { useEffect, useState } from 'react'
import type { FilterCondition, ListFilter } from '../api/data-provider.ts'
import { type AttributeInfo, type TypeInfo, toLabel } from '../api/schema.ts'
import { toLocal, toUtc } from '../api/time-zone.ts'
import { useSchema } from '../shell/context.tsx'
import { useWords } from '../shell/i18n.tsx'

const NULLS = ['$null', '$notNull']
const ORDER = ['$lt', '$lte', '$gt', '$gte', '$between']
/** Upper and lower case count. */
const EXACT_TEXT = ['$eq', '$ne', '$contains', '$notContains', '$startsWith', '$endsWith']
const FOLDED_TEXT = ['$containsi', '$notContainsi', '$eqi', '$nei', '$startsWithi', '$endsWithi']
const TEXT = [...FOLDED_TEXT, ...EXACT_TEXT, '$in', '$notIn', ...ORDER, ...NULLS]
/** The last ones compare the digits as a text. */
const NUMBER = ['$eq', '$ne', ...ORDER, '$in', '$notIn', ...NULLS, ...FOLDED_TEXT]
const CHOICE = ['$eq', '$ne', '$in', '$notIn', ...NULLS]

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
  array: ['$contains', '$notContains', ...NULLS],
  json: NULLS,
  blocks: NULLS,
  media: NULLS,
  // By the attribute that names the linked documents.
  relation: [...FOLDED_TEXT, ...NULLS],
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
            {isText(attribute) && EXACT_TEXT.includes(operator) && ` (${words('sameCase')})`}
          </option>
        ))}
      </select>
      {!condition.operator.endsWith('ull') && (
        <ConditionValue
          attribute={attribute}
          operator={condition.operator}
          value={condition.value}
          onChange={setValue}
        />
      )}
    </>
  )
}

const isText = (attribute: AttributeInfo | undefined): boolean => OPERATORS[attribute?.type ?? ''] === TEXT

interface ConditionValueProps {
  readonly attribute: AttributeInfo | undefined
  readonly operator: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function ConditionValue(props: ConditionValueProps) {
  const words = useWords()
  const { attribute, operator, value, onChange } = props
  const [typed, setTyped] = useTyping(value, onChange)
  const choices = attribute?.type === 'boolean' ? ['true', 'false'] : (attribute?.values ?? [])
  if (operator === '$between') return <BetweenValues {...props} />
  const several = operator === '$in' || operator === '$notIn'
  if (choices.length > 0 && !several)
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
      aria-label={words(several ? 'values' : 'value')}
      title={several ? words('values') : undefined}
      placeholder={several ? 'a; b; c' : undefined}
      type={several || operator.endsWith('i') ? 'text' : inputTypeOf(attribute)}
      step="any"
      value={several ? typed : toInput(attribute, typed)}
      onChange={event => setTyped(several ? event.target.value : fromInput(attribute, event.target.value))}
    />
  )
}

/** Both ends are in the address, as `from;to`. */
function BetweenValues({ attribute, value, onChange }: ConditionValueProps) {
  const words = useWords()
  const [from = '', to = ''] = value.split(';')
  return (
    <>
      {(['from', 'to'] as const).map(end => (
        <input
          key={end}
          aria-label={words(end)}
          title={words(end)}
          type={inputTypeOf(attribute)}
          step="any"
          value={toInput(attribute, end === 'from' ? from : to)}
          onChange={event => {
            const typed = fromInput(attribute, event.target.value)
            onChange(end === 'from' ? `${typed};${to}` : `${from};${typed}`)
          }}
        />
      ))}
    </>
  )
}

const INPUT_TYPES: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  datetime: 'datetime-local',
}

const inputTypeOf = (attribute: AttributeInfo | undefined): string =>
  INPUT_TYPES[attribute?.type ?? ''] ?? 'text'

/** Times are typed in the time zone of the browser and asked for in UTC. */
const toInput = (attribute: AttributeInfo | undefined, value: string): string =>
  attribute?.type === 'datetime' ? toLocal(value) : value

const fromInput = (attribute: AttributeInfo | undefined, typed: string): string =>
  attribute?.type === 'datetime' && typed !== '' ? toUtc(typed) : typed

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
