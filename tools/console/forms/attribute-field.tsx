import { lazy, type ReactNode, Suspense, useId } from 'react'
import { toLabel } from '../api/schema.ts'
import { ComponentField, ComponentListField, ZoneField } from '../fields/component-fields.tsx'
import type { AttributeFieldProps, InputProps } from '../fields/field-props.ts'
import { useFieldFaults, useForm } from '../fields/form-context.tsx'
import {
  ChoiceInput,
  DateTimeInput,
  JsonInput,
  NumberInput,
  PasswordInput,
  TextInput,
} from '../fields/simple-inputs.tsx'
import { UidInput } from '../fields/uid-input.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { directionOf, useTranslate } from '../shell/i18n.tsx'

const BlocksInput = lazy(() =>
  import('../blocks/blocks-input.tsx').then(part => ({ default: part.BlocksInput })),
)
const MarkdownInput = lazy(() =>
  import('../fields/markdown-input.tsx').then(part => ({ default: part.MarkdownInput })),
)
const MediaInput = lazy(() => import('../media/media-input.tsx').then(part => ({ default: part.MediaInput })))
const RelationInput = lazy(() =>
  import('../fields/relation-input.tsx').then(part => ({ default: part.RelationInput })),
)

/** A label, an input, its help and the server's messages. */
export function AttributeField(props: AttributeFieldProps) {
  const { attribute, path, help, children } = props
  const translate = useTranslate()
  const id = useId()
  const form = useForm()
  const faults = useFieldFaults(path)
  const readOnly = form.readOnly || !attribute.writable
  const describedBy = [help !== null && `${id}-help`, faults.length > 0 && `${id}-faults`]
    .filter(Boolean)
    .join(' ')
  const input: InputProps = {
    ...props,
    id,
    describedBy: describedBy || undefined,
    invalid: faults.length > 0,
    readOnly,
    dir: directionOf(attribute.localized || form.locale ? form.locale : null),
  }
  const compound = COMPOUND.has(attribute.type)
  const label = (
    <>
      {toLabel(attribute.name)}
      {attribute.required && <span title={translate('required')}> *</span>}
      {!attribute.writable && <span className="mark"> {translate('readOnly')}</span>}
    </>
  )
  const below = (
    <>
      {help !== null && (
        <p id={`${id}-help`} className="help">
          {help}
        </p>
      )}
      {children}
      {faults.length > 0 && (
        <p id={`${id}-faults`} className="fault">
          {faults.join(' · ')}
        </p>
      )}
    </>
  )
  if (compound)
    return (
      <fieldset className="field" aria-describedby={input.describedBy} data-path={path.join('.')}>
        <legend>{label}</legend>
        <Input {...input} />
        {below}
      </fieldset>
    )
  return (
    <div className="field" data-path={path.join('.')}>
      <label htmlFor={id}>{label}</label>
      <Input {...input} />
      {below}
    </div>
  )
}

const COMPOUND: ReadonlySet<string> = new Set(['relation', 'media', 'component', 'dynamiczone', 'blocks'])

function Input(props: InputProps) {
  const Chosen = INPUTS[props.attribute.type] ?? JsonInput
  const translate = useTranslate()
  if (props.attribute.type === 'component' && props.attribute.repeatable)
    return <ComponentListField {...props} field={AttributeField} />
  return (
    <Boundary>
      <Suspense fallback={<p aria-busy="true">{translate('loading')}</p>}>
        <Chosen {...props} />
      </Suspense>
    </Boundary>
  )
}

const INPUTS: Readonly<Record<string, (props: InputProps) => ReactNode>> = {
  string: TextInput,
  text: TextInput,
  email: TextInput,
  uid: UidInput,
  password: PasswordInput,
  richtext: props => <MarkdownInput {...props} />,
  blocks: props => <BlocksInput {...props} />,
  integer: NumberInput,
  biginteger: NumberInput,
  decimal: NumberInput,
  float: NumberInput,
  date: DateTimeInput,
  time: DateTimeInput,
  datetime: DateTimeInput,
  enumeration: ChoiceInput,
  boolean: ChoiceInput,
  media: props => <MediaInput {...props} />,
  relation: props => <RelationInput {...props} />,
  component: props => <ComponentField {...props} field={AttributeField} />,
  dynamiczone: props => <ZoneField {...props} field={AttributeField} />,
}
