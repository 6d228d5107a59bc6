import { useEffect, useState } from 'react'
import { asText, digitsOf, equalJson, parseExact, printExact } from '../api/json.ts'
import { toLocal, toUtc } from '../api/time-zone.ts'
import { useTranslate } from '../shell/i18n.tsx'
import type { InputProps } from './field-props.ts'
import { mergeLineBreaks, normalizeLineBreaks } from './line-breaks.ts'

/** Attributes of every input element. */
const common = ({ id, describedBy, invalid, readOnly }: InputProps) => ({
  id,
  'aria-describedby': describedBy,
  'aria-invalid': invalid || undefined,
  disabled: readOnly,
})

/**
 * Empty text is null. A text with line breaks gets a textarea, because an input would remove them. No `maxLength`: it would cut pasted
 * text silently; the server reports a text that is too long.
 */
export function TextInput(props: InputProps) {
  const { attribute, value, dir, onChange } = props
  const text = asText(value)
  const [lines, setLines] = useState(attribute.type === 'text')
  if (!lines && /[\r\n]/.test(text)) setLines(true)
  const shared = {
    ...common(props),
    value: normalizeLineBreaks(text),
    dir,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange(mergeLineBreaks(text, event.target.value) || null),
  }
  if (lines) return <textarea rows={attribute.type === 'text' ? 4 : 2} {...shared} />
  return <input type={attribute.type === 'email' ? 'email' : 'text'} {...shared} />
}

/** The stored password is never shown; input replaces it. */
export function PasswordInput(props: InputProps) {
  const translate = useTranslate()
  const { value, onChange } = props
  return (
    <input
      type="password"
      autoComplete="new-password"
      placeholder={translate('unchanged')}
      {...common(props)}
      value={asText(value)}
      onChange={event => onChange(event.target.value === '' ? null : event.target.value)}
    />
  )
}

/**
 * Integers are numbers. Larger and decimal numbers stay text, so that no digit is lost. An input of type `number` would return an empty
 * value for invalid input; here the server reports it.
 */
export function NumberInput(props: InputProps) {
  const { attribute, value, onChange } = props
  const integer = attribute.type === 'integer'
  const change = (text: string) => {
    const trimmed = text.trim()
    if (trimmed === '') onChange(null)
    else onChange(integer && /^-?\d{1,15}$/.test(trimmed) ? Number(trimmed) : text)
  }
  return (
    <input
      type="text"
      dir="ltr"
      inputMode={integer || attribute.type === 'biginteger' ? 'numeric' : 'decimal'}
      {...common(props)}
      value={digitsOf(value)}
      onChange={event => change(event.target.value)}
    />
  )
}

export function ChoiceInput(props: InputProps) {
  const translate = useTranslate()
  const { attribute, value, onChange } = props
  const boolean = attribute.type === 'boolean'
  const values = boolean ? ['true', 'false'] : attribute.values
  const chosen = value === null ? '' : String(value)
  const change = (text: string) => {
    if (text === '') onChange(null)
    else onChange(boolean ? text === 'true' : text)
  }
  return (
    <select {...common(props)} value={chosen} onChange={event => change(event.target.value)}>
      <option value="">—</option>
      {[...new Set(chosen === '' ? values : [...values, chosen])].map(each => (
        <option key={each} value={each}>
          {boolean ? translate(each === 'true' ? 'yes' : 'no') : each}
        </option>
      ))}
    </select>
  )
}

const TIME_TYPES = { date: 'date', time: 'time', datetime: 'datetime-local' } as const

/** A datetime is stored in UTC and edited in the browser's time zone, which is shown below the input. */
export function DateTimeInput(props: InputProps) {
  const { attribute, value, id, onChange } = props
  const type = TIME_TYPES[attribute.type as keyof typeof TIME_TYPES]
  const text = asText(value)
  const shown = type === 'datetime-local' ? toLocal(text) : text
  const change = (typed: string) => {
    if (typed === '') onChange(null)
    else if (type === 'datetime-local') onChange(toUtc(typed))
    else onChange(type === 'time' && typed.length === 5 ? `${typed}:00.000` : typed)
  }
  return (
    <>
      <input
        type={type}
        step={type === 'date' ? undefined : 'any'}
        {...common(props)}
        value={shown}
        onChange={event => change(event.target.value)}
      />
      {type === 'datetime-local' && (
        <p className="help" id={`${id}-zone`}>
          {Intl.DateTimeFormat().resolvedOptions().timeZone}
          {text !== '' && ` · UTC ${text.replace('T', ' ').replace('Z', '')}`}
        </p>
      )}
    </>
  )
}

/** JSON as text. Invalid JSON stays in the textarea and does not change the form. */
export function JsonInput(props: InputProps) {
  const translate = useTranslate()
  const { id, value, onChange } = props
  const [text, setText] = useState(value === null ? '' : printExact(value, 2))
  const parsed = parseText(text)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for a value from outside (a reload), not for each key.
  useEffect(() => {
    if (parsed !== undefined && !equalJson(parsed, value)) setText(value === null ? '' : printExact(value, 2))
  }, [value])
  return (
    <>
      <textarea
        rows={6}
        className="code"
        dir="ltr"
        spellCheck={false}
        {...common(props)}
        aria-invalid={parsed === undefined || props.invalid || undefined}
        value={text}
        onChange={event => {
          setText(event.target.value)
          const next = parseText(event.target.value)
          if (next !== undefined) onChange(next)
        }}
      />
      {parsed === undefined && (
        <p className="fault" id={`${id}-syntax`}>
          {translate('invalidJson')}
        </p>
      )}
    </>
  )
}

function parseText(text: string) {
  if (text.trim() === '') return null
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
