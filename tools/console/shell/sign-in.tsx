import { type FormEvent, useEffect, useState } from 'react'
import { ApiFault, callApi, page, session } from '../api/client.ts'
import { ActionButton } from './button.tsx'
import { useWords } from './i18n.tsx'
import { Modal } from './modal.tsx'
import { describeFault } from './notices.tsx'

interface SignInProps {
  readonly providers: readonly string[]
}

export function SignInPage({ providers }: SignInProps) {
  const words = useWords()
  return (
    <main className="sign-in">
      <section className="card">
        <h1>{words('signIn')}</h1>
        <SignInForm providers={providers} />
      </section>
    </main>
  )
}

/** Above everything that is on screen: a session ended in the middle of work. */
export function RenewModal() {
  const words = useWords()
  return (
    <Modal title={words('sessionEnded')} onClose={null}>
      <p>{words('sessionEndedHelp')}</p>
      <SignInForm providers={[]} />
    </Modal>
  )
}

function SignInForm({ providers }: SignInProps) {
  const words = useWords()
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
      session.start((await callApi('POST', '/auth/local', { body, signsIn: false })).body),
    )
  }
  return (
    <form onSubmit={submit}>
      {fault !== null && (
        <p role="alert" className="fault">
          {describeFault(fault, words)}
        </p>
      )}
      <label>
        {words('identifier')}
        <input name="identifier" required autoComplete="username" defaultValue={session.user?.username} />
      </label>
      <label>
        {words('password')}
        <input name="password" type="password" required autoComplete="current-password" />
      </label>
      <ActionButton type="submit" className="primary" off={busy}>
        {words('signIn')}
      </ActionButton>
      {providers.map(name => (
        <a key={name} className="button" href={providerAddress(name)}>
          {words('signInWith', { provider: name })}
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
  // The code is valid once: React's second call of effects in development must not send it again.
  useEffect(() => {
    const [, name] = /\/connect\/([^/]+)\/redirect$/.exec(location.pathname) ?? []
    const query = new URLSearchParams(location.search)
    const code = query.get('access_token')
    const refusal = query.get('error')
    if (!name || (!code && !refusal)) return
    history.replaceState(null, '', page.path)
    void signIn(async () => {
      if (refusal) throw new ApiFault(400, refusal, [], null)
      const path = `/auth/${name}/callback`
      const { body } = await callApi('GET', path, { query: { access_token: code }, signsIn: false })
      await session.start(body)
    })
  })
}
