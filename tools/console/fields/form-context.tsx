import { createContext, useContext } from 'react'
import type { FieldFault } from '../api/client.ts'
import type { JsonRecord } from '../api/json.ts'

/** The state of a form that fields at any depth use. */
export interface FormContext {
  readonly locale: string | null
  readonly fields: readonly FieldFault[]
  readonly readOnly: boolean
  /** The values of the top level: a uid is generated from one of them. */
  readonly values: JsonRecord
  /** Returns the promise of a request whose result changes the form. The form cannot be saved until it is settled. */
  readonly waitFor: <Result>(request: Promise<Result>) => Promise<Result>
  /** The locale that is shown for comparison. */
  readonly reference: { readonly locale: string; readonly values: JsonRecord } | null
}

const Context = createContext<FormContext | null>(null)

export const FormProvider = Context.Provider

export function useForm(): FormContext {
  const form = useContext(Context)
  if (!form) throw new Error('Fields are in a form')
  return form
}

/** The server's messages for exactly this field, not for nested ones. */
export function useFieldFaults(path: readonly string[]): readonly string[] {
  const place = path.join('.')
  return useForm()
    .fields.filter(fault => fault.path.join('.') === place)
    .map(({ message }) => message)
}
