import type { ButtonHTMLAttributes } from 'react'

interface ActionButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** aria-disabled: a click does nothing. */
  readonly inactive?: boolean
}

/** A button that keeps the focus while it is inactive; the `disabled` attribute would remove it. */
export const ActionButton = ({ inactive = false, onClick, ...rest }: ActionButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-disabled={inactive || undefined}
    onClick={event => {
      if (!inactive) onClick?.(event)
      else event.preventDefault()
    }}
  />
)
