import { useEffect, useRef, useState } from 'react'

/** Milliseconds without a key press before a request is sent. */
const DEBOUNCE = 300

/** The text of an input and its setter; `apply` gets the text once typing has paused. A new `value` of another origin replaces the text. */
export function useDebouncedInput(
  value: string,
  apply: (value: string) => void,
): [string, (value: string) => void] {
  const [typed, setTyped] = useState(value)
  // Texts that were applied and are not yet the value: the address of a list changes later, and typing goes on meanwhile.
  const applied = useRef<readonly string[]>([])
  useEffect(() => {
    const index = applied.current.lastIndexOf(value)
    applied.current = index === -1 ? [] : applied.current.slice(index + 1)
    if (index === -1) setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => {
      applied.current = [...applied.current, typed]
      apply(typed)
    }, DEBOUNCE)
    return () => clearTimeout(timer)
  })
  return [typed, setTyped]
}
