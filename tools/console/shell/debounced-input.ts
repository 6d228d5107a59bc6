import { useEffect, useState } from 'react'

/** Milliseconds without a key press before a request is sent. */
const DEBOUNCE = 300

/** The text of an input and its setter; `apply` gets the text once typing has paused. */
export function useDebouncedInput(
  value: string,
  apply: (value: string) => void,
): [string, (value: string) => void] {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => apply(typed), DEBOUNCE)
    return () => clearTimeout(timer)
  })
  return [typed, setTyped]
}
