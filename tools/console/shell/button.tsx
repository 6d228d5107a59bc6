import type { ButtonHTMLAttributes } from 'react'

interface ActionButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** It does nothing now. */
  readonly off?: boolean
}

/** A button that keeps the focus while it is off: a disabled one would lose it, and with it the place of a keyboard user. */
export const ActionButton = ({ off = false, onClick, ...rest }: ActionButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-disabled={off || undefined}
    onClick={event => {
      if (!off) onClick?.(event)
      else event.preventDefault()
    }}
  />
)
