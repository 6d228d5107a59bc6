import { useRef, useState } from 'react'
import { equalJson, type JsonValue } from '../api/json.ts'
import type { InputProps } from '../fields/field-props.ts'
import { JsonInput } from '../fields/simple-inputs.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { useTranslate } from '../shell/i18n.tsx'
import { BlocksEditor } from './blocks-editor.tsx'

/** The editor has its own state; it is mounted again only for a value that it did not emit (a reload, another locale). */
export function BlocksInput(props: InputProps) {
  const translate = useTranslate()
  const { value, onChange } = props
  const lastEmitted = useRef<JsonValue>(value)
  const [shown, setShown] = useState({ value, generation: 0 })
  if (value !== shown.value) {
    const isOwnChange = value === lastEmitted.current || equalJson(value, lastEmitted.current)
    setShown({ value, generation: shown.generation + (isOwnChange ? 0 : 1) })
    if (!isOwnChange) lastEmitted.current = value
  }
  const change = (next: JsonValue) => {
    lastEmitted.current = next
    onChange(next)
  }
  // A failed editor falls back to JSON input and does not close the form.
  return (
    <Boundary
      fallback={
        <>
          <p className="help">{translate('blocksFailed')}</p>
          <JsonInput {...props} />
        </>
      }
    >
      <BlocksEditor key={shown.generation} {...props} onChange={change} />
    </Boundary>
  )
}
