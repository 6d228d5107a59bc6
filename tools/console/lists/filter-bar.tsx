import { useListContext } from 'ra-core'
import type { FilterCondition, ListFilter } from '../api/data-provider.ts'
import { type AttributeInfo, type TypeInfo, toLabel } from '../api/schema.ts'
import { toLocal, toUtc } from '../api/time-zone.ts'
import { useSchema } from '../shell/context.tsx'
import { useDebouncedInput } from '../shell/debounced-input.ts'
import { useTranslate } from '../shell/i18n.tsx'

const NULL_CHECKS = ['$null', '$notNull']
const ORDER = ['$lt', '$lte', '$gt', '$gte', '$between']
const CASE_SENSITIVE = ['$eq', '$ne', '$contains', '$notContains', '$startsWith', '$endsWith']
const CASE_INSENSITIVE = ['$containsi', '$notContainsi', '$eqi', '$nei', '$startsWithi', '$endsWithi']
const TEXT = [...CASE_INSENSITIVE, ...CASE_SENSITIVE, '$in', '$notIn', ...ORDER, ...NULL_CHECKS]
/** The case-insensitive ones compare the digits as text. */
const NUMBER = ['$eq', '$ne', ...ORDER, '$in', '$notIn', ...NULL_CHECKS, ...CASE_INSENSITIVE]
const CHOICE = ['$eq', '$ne', '$in', '$notIn', ...NULL_CHECKS]

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
  array: ['$contains', '$notContains', ...NULL_CHECKS],
  json: NULL_CHECKS,
  blocks: NULL_CHECKS,
  media: NULL_CHECKS,
  // Compared with the label attribute of the linked documents.
  relation: [...CASE_INSENSITIVE, ...NULL_CHECKS],
}

export function FilterBar({ type }: { readonly type: TypeInfo }) {
  const translate = useTranslate()
  const schema = useSchema()
  const { filterValues, setFilters } = useListContext()
  const filter = filterValues as ListFilter
  const change = (part: Partial<ListFilter>) => {
    const next = Object.entries({ ...filter, ...part }).filter(([, value]) => value && value.length > 0)
    setFilters(Object.fromEntries(next), undefined, false)
  }
  const [text, setText] = useDebouncedInput(filter.text ?? '', value => change({ text: value }))
  return (
    <search className="filters">
      <label>
        {translate('search')}
        <input type="search" value={text} onChange={event => setText(event.target.value)} />
      </label>
      {type.localized && schema.locales.length > 1 && (
        <label>
          {translate('contentLocale')}
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
          {translate('status')}
          <select value={filter.status ?? ''} onChange={event => change({ status: event.target.value })}>
            <option value="">{translate('all')}</option>
            <option value="draft">{translate('draft')}</option>
            <option value="published">{translate('published')}</option>
            <option value="modified">{translate('modified')}</option>
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
  const translate = useTranslate()
  const attributes = type.attributes.filter(({ readable, type: kind }) => readable && OPERATORS[kind])
  const first = attributes[0]
  if (!first) return null
  const replace = (index: number, condition: FilterCondition) => onChange(conditions.with(index, condition))
  return (
    <>
      {conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no id.
        <fieldset key={index} className="condition">
          <legend>{translate('condition')}</legend>
          <ConditionInputs
            attributes={attributes}
            condition={condition}
            onChange={changed => replace(index, changed)}
          />
          <button
            type="button"
            className="quiet"
            aria-label={translate('remove')}
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
        {translate('addFilter')}
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
  const translate = useTranslate()
  const attribute = attributes.find(({ name }) => name === condition.name)
  const setValue = (value: string) => onChange({ ...condition, value })
  return (
    <>
      <select
        aria-label={translate('attribute')}
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
        aria-label={translate('operator')}
        value={condition.operator}
        onChange={event => onChange({ ...condition, operator: event.target.value })}
      >
        {(OPERATORS[attribute?.type ?? ''] ?? []).map(operator => (
          <option key={operator} value={operator}>
            {translate(operator as '$eq')}
            {isText(attribute) && CASE_SENSITIVE.includes(operator) && ` (${translate('sameCase')})`}
          </option>
        ))}
      </select>
      {!NULL_CHECKS.includes(condition.operator) && (
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
  const translate = useTranslate()
  const { attribute, operator, value, onChange } = props
  const [typed, setTyped] = useDebouncedInput(value, onChange)
  const choices = attribute?.type === 'boolean' ? ['true', 'false'] : (attribute?.values ?? [])
  if (operator === '$between') return <BetweenValues {...props} value={typed} onChange={setTyped} />
  const takesList = operator === '$in' || operator === '$notIn'
  if (choices.length > 0 && !takesList)
    return (
      <select aria-label={translate('value')} value={value} onChange={event => onChange(event.target.value)}>
        <option value="">…</option>
        {choices.map(choice => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    )
  return (
    <input
      aria-label={translate(takesList ? 'values' : 'value')}
      title={takesList ? translate('values') : undefined}
      placeholder={takesList ? 'a; b; c' : undefined}
      type={takesList || CASE_INSENSITIVE.includes(operator) ? 'text' : inputTypeOf(attribute)}
      step="any"
      value={takesList ? typed : toInput(attribute, typed)}
      onChange={event => setTyped(takesList ? event.target.value : fromInput(attribute, event.target.value))}
    />
  )
}

/** The URL has both bounds as `from;to`. */
function BetweenValues({ attribute, value, onChange }: ConditionValueProps) {
  const translate = useTranslate()
  const [from = '', to = ''] = value.split(';')
  return (
    <>
      {(['from', 'to'] as const).map(end => (
        <input
          key={end}
          aria-label={translate(end)}
          title={translate(end)}
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

/** Times are entered in the browser's time zone and sent in UTC. */
const toInput = (attribute: AttributeInfo | undefined, value: string): string =>
  attribute?.type === 'datetime' ? toLocal(value) : value

const fromInput = (attribute: AttributeInfo | undefined, typed: string): string =>
  attribute?.type === 'datetime' && typed !== '' ? toUtc(typed) : typed
