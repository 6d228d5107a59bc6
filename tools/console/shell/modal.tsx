import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { useTranslate } from './i18n.tsx'

interface ModalProps {
  readonly title: string
  readonly children: ReactNode
  readonly wide?: boolean
  /** null: the dialog cannot be dismissed. */
  readonly onClose: (() => void) | null
}

/** A native modal dialog: the browser traps the focus and restores it. */
export function Modal({ title, children, wide, onClose }: ModalProps) {
  const translate = useTranslate()
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  // A layout effect runs before the element is removed; a removed dialog does not restore the focus.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      className={wide ? 'wide' : undefined}
      onCancel={event => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {onClose && (
          <button type="button" className="quiet" aria-label={translate('close')} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: string
  readonly action: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function ConfirmModal({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  const translate = useTranslate()
  return (
    <Modal title={title} onClose={onClose}>
      <p>{text}</p>
      <footer>
        <button type="button" onClick={onClose}>
          {translate('cancel')}
        </button>
        <button
          type="button"
          className="danger"
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {action}
        </button>
      </footer>
    </Modal>
  )
}
