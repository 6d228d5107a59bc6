import { useNotificationContext } from 'ra-core'
import { useEffect } from 'react'
import { ApiFault } from '../api/client.ts'
import { type Translate, useTranslate } from './i18n.tsx'

/** Milliseconds that a confirmation is shown. Errors are shown until they are closed. */
const NOTICE_DURATION = 6000

export function NoticeList() {
  const translate = useTranslate()
  const { notifications, takeNotification } = useNotificationContext()
  const last = notifications.at(-1)
  // takeNotification removes the oldest one; only the shown one may remain when the user closes it.
  useEffect(() => {
    if (notifications.length > 1) takeNotification()
  }, [notifications, takeNotification])
  useEffect(() => {
    if (!last || last.type === 'error') return
    const timer = setTimeout(takeNotification, NOTICE_DURATION)
    return () => clearTimeout(timer)
  }, [last, takeNotification])
  return (
    <div className="notices" role="status">
      {last && (
        <p className={last.type === 'error' ? 'fault' : 'done'}>
          {String(last.message)}
          <button type="button" className="quiet" aria-label={translate('close')} onClick={takeNotification}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}

/** The message of a failed request, in the user's language. */
export function describeFault(fault: unknown, translate: Translate): string {
  if (fault instanceof DOMException && fault.name === 'QuotaExceededError') return translate('notKept')
  if (!(fault instanceof ApiFault)) return translate('offline')
  if (fault.status === 429) return translate('tooManyRequests', { seconds: fault.retryAfter ?? 60 })
  if (fault.status === 403) return translate('forbidden')
  return fault.message
}
