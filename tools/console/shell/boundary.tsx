import { Component, type ReactNode } from 'react'
import { useTranslate } from './i18n.tsx'

interface BoundaryProps {
  /** A change of it shows the children again, for example the address of the page. */
  readonly resetKey?: string
  /** What replaces the failed children. Default: the error and a button that reloads the console. */
  readonly fallback?: ReactNode
  readonly children: ReactNode
}

interface BoundaryState {
  readonly fault: unknown
  readonly failed: boolean
  readonly resetKey: string | undefined
}

/**
 * Limits an error to the part of the page that failed; React removes the whole page otherwise. Parts that load on demand fail when the
 * connection is lost, and after a deploy, which replaces the files of the console.
 */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { fault: null, failed: false, resetKey: this.props.resetKey }

  static getDerivedStateFromError = (fault: unknown) => ({ fault, failed: true })

  static getDerivedStateFromProps = ({ resetKey }: BoundaryProps, state: BoundaryState) =>
    resetKey === state.resetKey ? null : { fault: null, failed: false, resetKey }

  override render() {
    const { fallback, children } = this.props
    if (!this.state.failed) return children
    return fallback ?? <FailedPart fault={this.state.fault} />
  }
}

function FailedPart({ fault }: { readonly fault: unknown }) {
  const translate = useTranslate()
  return (
    <div className="fault" role="alert">
      <p>{translate('partFailed')}</p>
      <p>{fault instanceof Error ? fault.message : String(fault)}</p>
      <button type="button" onClick={() => window.location.reload()}>
        {translate('reload')}
      </button>
    </div>
  )
}
