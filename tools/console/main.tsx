import './styles/base.css'
import './styles/content.css'
import './styles/views.css'
import { QueryClient } from '@tanstack/react-query'
import { CoreAdminContext, memoryStore } from 'ra-core'
import { lazy, StrictMode, Suspense, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter, Route, Routes, useLocation } from 'react-router-dom'
import { ApiFault, callApi, page, readUser, session } from './api/client.ts'
import { createDataProvider } from './api/data-provider.ts'
import type { JsonValue } from './api/json.ts'
import { type ApiSchema, readSchema } from './api/schema.ts'
import { Boundary } from './shell/boundary.tsx'
import { SchemaProvider } from './shell/context.tsx'
import { createI18nProvider, useTranslate } from './shell/i18n.tsx'
import { applyTheme, Layout } from './shell/layout.tsx'
import { describeFault } from './shell/notices.tsx'
import { AccountPage, HomePage, MissingPage } from './shell/pages.tsx'
import { RenewModal, SignInPage } from './shell/sign-in.tsx'

const ListPage = lazy(() => import('./lists/list-page.tsx').then(part => ({ default: part.ListScreen })))
const EditPage = lazy(() => import('./forms/edit-page.tsx').then(part => ({ default: part.EditPage })))
const SinglePage = lazy(() => import('./forms/edit-page.tsx').then(part => ({ default: part.SinglePage })))
const MediaPage = lazy(() => import('./media/media-page.tsx').then(part => ({ default: part.MediaPage })))

const ModelPage = lazy(() => import('./views/model-page.tsx').then(part => ({ default: part.ModelPage })))
const PermissionsPage = lazy(() =>
  import('./views/permissions-page.tsx').then(part => ({ default: part.PermissionsPage })),
)
const SimulatorPage = lazy(() =>
  import('./views/simulator-page.tsx').then(part => ({ default: part.SimulatorPage })),
)
const OperationsPage = lazy(() =>
  import('./views/operations-page.tsx').then(part => ({ default: part.OperationsPage })),
)

const EMPTY_SCHEMA = readSchema(null)
const i18nProvider = createI18nProvider()

// The state of lists is in the URL and in memory: the browser stores no content except unsaved input.
const store = memoryStore()

const createQueries = () =>
  new QueryClient({ defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } } })

function ConsoleApp() {
  const version = useSyncExternalStore(session.subscribe, session.version)
  const schema = useApiSchema(version)
  const [queryClient] = useState(createQueries)
  const dataProvider = useMemo(() => createDataProvider(schema.value ?? EMPTY_SCHEMA), [schema.value])
  return (
    <CoreAdminContext
      dataProvider={dataProvider}
      i18nProvider={i18nProvider}
      store={store}
      queryClient={queryClient}
    >
      <Boundary>
        <Screen schema={schema} />
      </Boundary>
    </CoreAdminContext>
  )
}

function Screen({ schema }: { readonly schema: SchemaState }) {
  const translate = useTranslate()
  const { pathname } = useLocation()
  if (schema.state === 'loading') return <p aria-busy="true">{translate('loading')}</p>
  if (schema.state === 'failed')
    return (
      <main className="sign-in">
        <p className="fault" role="alert">
          {describeFault(schema.fault, translate)}
        </p>
      </main>
    )
  if (!schema.value || !session.user) return <SignInPage providers={page.providers} />
  return (
    <SchemaProvider value={schema.value}>
      <Layout>
        <Boundary resetKey={pathname}>
          <Suspense fallback={<p aria-busy="true">{translate('loading')}</p>}>
            <Pages />
          </Suspense>
        </Boundary>
      </Layout>
      {session.expired && <RenewModal />}
    </SchemaProvider>
  )
}

const Pages = () => (
  <Routes>
    <Route path="/" element={<HomePage />} />
    <Route path="/content/:plural" element={<ListPage />} />
    <Route path="/content/:plural/create" element={<EditPage key="create" isNew />} />
    <Route path="/content/:plural/:documentId" element={<EditPage key="edit" />} />
    <Route path="/single/:name" element={<SinglePage />} />
    <Route path="/media" element={<MediaPage />} />
    <Route path="/model" element={<ModelPage />} />
    <Route path="/permissions" element={<PermissionsPage />} />
    <Route path="/simulator" element={<SimulatorPage />} />
    <Route path="/operations" element={<OperationsPage />} />
    <Route path="/account" element={<AccountPage />} />
    <Route path="*" element={<MissingPage />} />
  </Routes>
)

interface SchemaState {
  readonly state: 'loading' | 'ready' | 'failed'
  readonly value: ApiSchema | null
  readonly fault: unknown
}

const START: SchemaState = { state: 'loading', value: null, fault: null }

/** Reads the OpenAPI document of the caller's role, once for each user. */
function useApiSchema(version: number): SchemaState {
  const [state, setState] = useState(START)
  const [loadedFor, setLoadedFor] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` changes with the session's user.
  useEffect(() => {
    const user = session.user?.id ?? null
    if (user !== null && user === loadedFor) return
    let current = true
    const apply = (next: SchemaState) => {
      if (current) setState(next)
    }
    loadSchema()
      .then(next => {
        setLoadedFor(session.user?.id ?? null)
        apply(next)
      })
      .catch((fault: unknown) => apply({ ...START, state: 'failed', fault }))
    return () => {
      current = false
    }
  }, [version])
  return state
}

async function loadSchema(): Promise<SchemaState> {
  await session.restore()
  if (!session.hasToken) return { ...START, state: 'ready' }
  const user = session.user ?? (await findUser())
  const document = await callApi('GET', '/openapi.json', { renewsSession: false }).catch(refusedToNull)
  const schema = readSchema(document?.body ?? null)
  if (!user || document === null) return { ...START, state: 'ready' }
  session.user = user
  return { ...START, state: 'ready', value: schema }
}

/** The user of the token; roles that may not call /users/me use the user of the sign-in response. */
async function findUser() {
  const answer = await callApi('GET', '/users/me', { renewsSession: false }).catch(refusedToNull)
  const user: JsonValue = answer?.body ?? null
  return readUser(user) ?? session.storedUser()
}

const refusedToNull = (fault: unknown): null => {
  if (fault instanceof ApiFault && [401, 403, 404].includes(fault.status)) return null
  throw fault
}

applyTheme()
const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <BrowserRouter basename={page.path}>
        <ConsoleApp />
      </BrowserRouter>
    </StrictMode>,
  )
