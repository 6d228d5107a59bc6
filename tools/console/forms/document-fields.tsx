import type { ReactNode } from 'react'
import type { JsonRecord, JsonValue } from '../api/json.ts'
import { type AttributeInfo, type TypeInfo, toLabel } from '../api/schema.ts'
import { useForm } from '../fields/form-context.tsx'
import { describeValue } from '../lists/cell-value.tsx'
import { directionOf, useWords } from '../shell/i18n.tsx'
import { AttributeField } from './attribute-field.tsx'

interface DocumentFieldsProps {
  readonly type: TypeInfo
  readonly values: JsonRecord
  readonly onChange: (name: string, value: JsonValue) => void
}

/** What the server sets itself; the form shows the times below. */
const OWN: ReadonlySet<string> = new Set([
  'id',
  'documentId',
  'locale',
  'localizations',
  'createdBy',
  'updatedBy',
])
const TIMES = ['createdAt', 'updatedAt', 'publishedAt'] as const

/** The groups of the project file in their order, and every other attribute before them. */
export function DocumentFields({ type, values, onChange }: DocumentFieldsProps) {
  const words = useWords()
  const { layout } = type
  const shown = type.attributes.filter(
    ({ name }) => !OWN.has(name) && !TIMES.some(time => time === name) && !layout.hidden.includes(name),
  )
  const grouped = new Set(layout.groups.flatMap(({ attributes }) => attributes))
  const field = (attribute: AttributeInfo): ReactNode => (
    <AttributeField
      key={attribute.name}
      attribute={attribute}
      path={[attribute.name]}
      value={values[attribute.name] ?? null}
      help={layout.help[attribute.name] ?? null}
      siblings={values}
      onChange={value => onChange(attribute.name, value)}
    >
      <ReferenceValue attribute={attribute} />
    </AttributeField>
  )
  return (
    <>
      {shown.filter(({ name }) => !grouped.has(name)).map(field)}
      {layout.groups.map(({ title, attributes }) => (
        <details key={title} open className="group">
          <summary>{title}</summary>
          {attributes.flatMap(name => shown.filter(attribute => attribute.name === name)).map(field)}
        </details>
      ))}
      <dl className="times">
        {TIMES.filter(name => typeof values[name] === 'string').map(name => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{new Date(String(values[name])).toLocaleString(document.documentElement.lang)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** The same attribute in the other locale that is shown. */
function ReferenceValue({ attribute }: { readonly attribute: AttributeInfo }) {
  const { reference } = useForm()
  if (!reference || !attribute.localized) return null
  const text = describeValue(reference.values[attribute.name] ?? null)
  return (
    <p
      className="reference"
      lang={reference.locale}
      dir={directionOf(reference.locale)}
      title={toLabel(attribute.name)}
    >
      <strong>{reference.locale}</strong> {text || '—'}
    </p>
  )
}
