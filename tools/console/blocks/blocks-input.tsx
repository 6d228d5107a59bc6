import { Component, type ReactNode, useRef, useState } from 'react'
import { equalJson, type JsonValue } from '../api/json.ts'
import type { InputProps } from '../fields/field-props.ts'
import { JsonInput } from '../fields/simple-inputs.tsx'
import { useWords } from '../shell/i18n.tsx'
import { BlocksEditor } from './blocks-editor.tsx'

/** The editor keeps its own state; only a value that it did not make itself (a reload, another locale) opens it again. */
export function BlocksInput(props: InputProps) {
  const words = useWords()
  const { value, onChange } = props
  const made = useRef<JsonValue>(value)
  const [shown, setShown] = useState({ value, generation: 0 })
  if (value !== shown.value) {
    const own = value === made.current || equalJson(value, made.current)
    setShown({ value, generation: shown.generation + (own ? 0 : 1) })
    if (!own) made.current = value
  }
  const change = (next: JsonValue) => {
    made.current = next
    onChange(next)
  }
  return (
    <Boundary
      fallback={
        <>
          <p className="help">{words('blocksFailed')}</p>
          <JsonInput {...props} />
        </>
      }
    >
      <BlocksEditor key={shown.generation} {...props} onChange={change} />
    </Boundary>
  )
}

interface BoundaryProps {
  readonly fallback: ReactNode
  readonly children: ReactNode
}

/** A document that the editor fails at is no reason to lose the form. */
class Boundary extends Component<BoundaryProps, { readonly failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError = () => ({ failed: true })

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children
  }
}
