import { type FormEvent, useEffect, useState } from 'react'
import { ApiFault, callApi, page, session } from '../api/client.ts'
import { ActionButton } from './button.tsx'
import { useTranslate } from './i18n.tsx'
import { Modal } from './modal.tsx'
import { describeFault } from './notices.tsx'

interface SignInProps {
  readonly providers: readonly string[]
}

export function SignInPage({ providers }: SignInProps) {
  const translate = useTranslate()
  return (
    <main className="sign-in">
      <section className="card">
        <h1>{translate('signIn')}</h1>
        <SignInForm providers={providers} />
      </section>
    </main>
  )
}

/** Asks for the password over the current screen, so that unsaved input is not lost when a session expires. */
export function RenewModal() {
  const translate = useTranslate()
  return (
    <Modal title={translate('sessionEnded')} onClose={null}>
      <p>{translate('sessionEndedHelp')}</p>
      <SignInForm providers={[]} />
    </Modal>
  )
}

function SignInForm({ providers }: SignInProps) {
  const translate = useTranslate()
  const [fault, setFault] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const signIn = async (request: () => Promise<void>) => {
    setBusy(true)
    setFault(null)
    await request().catch((error: unknown) => {
      setFault(error)
      setBusy(false)
    })
  }
  useProviderAnswer(signIn)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (busy) return
    const data = new FormData(event.currentTarget)
    const body = { identifier: data.get('identifier'), password: data.get('password') }
    void signIn(async () =>
      session.start((await callApi('POST', '/auth/local', { body, renewsSession: false })).body),
    )
  }
  return (
    <form onSubmit={submit}>
      {fault !== null && (
        <p role="alert" className="fault">
          {describeFault(fault, translate)}
        </p>
      )}
      <label>
        {translate('identifier')}
        <input name="identifier" required autoComplete="username" defaultValue={session.user?.username} />
      </label>
      <label>
        {translate('password')}
        <input name="password" type="password" required autoComplete="current-password" />
      </label>
      <ActionButton type="submit" className="primary" inactive={busy}>
        {translate('signIn')}
      </ActionButton>
      {providers.map(name => (
        <a key={name} className="button" href={providerAddress(name)}>
          {translate('signInWith', { provider: name })}
        </a>
      ))}
    </form>
  )
}

/** The provider redirects back to this page with a code of the API (docs/identity.md, "Sign-in at a provider"). */
function providerAddress(name: string): string {
  const callback = `${location.origin}${page.path}/connect/${name}/redirect`
  return `${page.api}/connect/${encodeURIComponent(name)}?callback=${encodeURIComponent(callback)}`
}

function useProviderAnswer(signIn: (request: () => Promise<void>) => Promise<void>): void {
  // The code is valid once: StrictMode runs effects twice in development.
  useEffect(() => {
    const [, name] = /\/connect\/([^/]+)\/redirect$/.exec(location.pathname) ?? []
    const query = new URLSearchParams(location.search)
    const code = query.get('access_token')
    const error = query.get('error')
    if (!name || (!code && !error)) return
    history.replaceState(null, '', page.path)
    void signIn(async () => {
      if (error) throw new ApiFault(400, error, [], null)
      const path = `/auth/${name}/callback`
      const { body } = await callApi('GET', path, { query: { access_token: code }, renewsSession: false })
      await session.start(body)
    })
  })
}
