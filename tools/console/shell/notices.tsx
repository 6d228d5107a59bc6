import { useNotificationContext } from 'ra-core'
import { useEffect } from 'react'
import { ApiFault } from '../api/client.ts'
import { useWords } from './i18n.tsx'

/** Milliseconds that a confirmation stays. Errors stay until they are closed. */
const STAY = 6000

/** Screen readers read what appears here. */
export function NoticeList() {
  const words = useWords()
  const { notifications, takeNotification } = useNotificationContext()
  const last = notifications.at(-1)
  // ra-core takes the oldest one; closing must take the one that is shown.
  useEffect(() => {
    if (notifications.length > 1) takeNotification()
  }, [notifications, takeNotification])
  useEffect(() => {
    if (!last || last.type === 'error') return
    const timer = setTimeout(takeNotification, STAY)
    return () => clearTimeout(timer)
  }, [last, takeNotification])
  return (
    <div className="notices" role="status">
      {last && (
        <p className={last.type === 'error' ? 'fault' : 'done'}>
          {String(last.message)}
          <button type="button" className="quiet" aria-label={words('close')} onClick={takeNotification}>
            ✕
          </button>
        </p>
      )}
    </div>
  )
}

/** One sentence about a failed request. */
export function describeFault(fault: unknown, words: ReturnType<typeof useWords>): string {
  if (fault instanceof DOMException && fault.name === 'QuotaExceededError') return words('notKept')
  if (!(fault instanceof ApiFault)) return words('offline')
  if (fault.status === 429) return words('tooManyRequests', { seconds: fault.retryAfter ?? 60 })
  if (fault.status === 403) return words('forbidden')
  return fault.message
}
