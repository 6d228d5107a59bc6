import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { callApi } from '../api/client.ts'
import { asText, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import { useTranslate } from '../shell/i18n.tsx'
import { describeFault } from '../shell/notices.tsx'

/** `data` of `GET /console/<name>`. */
export function useView(name: string, query: Readonly<Record<string, string>> = {}, enabled = true) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['console', name, query],
    queryFn: async () => {
      const { body } = await callApi('GET', `/console/${name}`, { query })
      return isJsonObject(body) && isJsonObject(body.data) ? body.data : {}
    },
    enabled,
    retry: false,
    staleTime: 30_000,
  })
  return { data: data ?? null, error, isFetching, refetch }
}

interface ViewFrameProps {
  readonly title: string
  readonly view: Pick<ReturnType<typeof useView>, 'data' | 'error'>
  readonly children: (data: JsonRecord) => ReactNode
}

/** The heading of a view with its error, its content or a loading text. */
export function ViewFrame({ title, view, children }: ViewFrameProps) {
  const translate = useTranslate()
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <>
      <h1>{title}</h1>
      {view.error ? (
        <p className="fault" role="alert">
          {describeFault(view.error, translate)}
        </p>
      ) : view.data ? (
        children(view.data)
      ) : (
        <p aria-busy="true">{translate('loading')}</p>
      )}
    </>
  )
}

/** `project.yaml:12` and the text of the line. */
export function SourceLine({ location }: { readonly location: JsonValue | undefined }) {
  if (!isJsonObject(location) || asText(location.file) === '') return null
  return (
    <span className="location">
      {asText(location.file)}:{String(location.line)} <code>{asText(location.source).trim()}</code>
    </span>
  )
}
