import { useQuery } from '@tanstack/react-query'
import { useNotify } from 'ra-core'
import { type FormEvent, useState } from 'react'
import { Link } from 'react-router-dom'
import { callApi, session } from '../api/client.ts'
import { asText, isJsonObject } from '../api/json.ts'
import { useSchema } from './context.tsx'
import { useTranslate } from './i18n.tsx'
import { routeOf } from './layout.tsx'
import { describeFault } from './notices.tsx'

export function HomePage() {
  const translate = useTranslate()
  const { types, name } = useSchema()
  return (
    <>
      <h1>{name}</h1>
      {types.length === 0 && <EmptyPage text={translate('nothingAllowed')} />}
      <ul className="cards">
        {types.map(type => (
          <li key={type.uid}>
            <Link to={routeOf(type)}>{type.displayName}</Link>
            {type.actions.has('create') && type.kind === 'collectionType' && (
              <Link className="button" to={`${routeOf(type)}/create`}>
                {translate('create')} <span className="hidden-text">{type.displayName}</span>
              </Link>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

export const EmptyPage = ({ text }: { readonly text: string }) => <p className="empty">{text}</p>

export function MissingPage() {
  const translate = useTranslate()
  return (
    <>
      <h1>{translate('missing')}</h1>
      <p>{translate('missingHelp')}</p>
      <Link to="/">{translate('home')}</Link>
    </>
  )
}

export function AccountPage() {
  const translate = useTranslate()
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: async () => (await callApi('GET', '/users/me')).body,
    retry: false,
  })
  const user = isJsonObject(data) ? data : {}
  return (
    <>
      <h1>{translate('account')}</h1>
      <dl>
        <dt>{translate('username')}</dt>
        <dd>{asText(user.username) || session.user?.username}</dd>
        {asText(user.email) && (
          <>
            <dt>{translate('email')}</dt>
            <dd>{asText(user.email)}</dd>
          </>
        )}
      </dl>
      <h2>{translate('changePassword')}</h2>
      <PasswordForm />
    </>
  )
}

const PASSWORDS = ['currentPassword', 'password', 'passwordConfirmation'] as const
const LABELS = {
  currentPassword: 'currentPassword',
  password: 'newPassword',
  passwordConfirmation: 'repeatPassword',
} as const

function PasswordForm() {
  const translate = useTranslate()
  const notify = useNotify()
  const [fault, setFault] = useState<unknown>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const body = Object.fromEntries(PASSWORDS.map(name => [name, data.get(name)]))
    callApi('POST', '/auth/change-password', { body })
      .then(({ body: answer }) => session.start(answer))
      .then(() => {
        form.reset()
        setFault(null)
        notify(translate('saved'), { type: 'success' })
      })
      .catch(setFault)
  }
  return (
    <form className="narrow" onSubmit={submit}>
      {fault !== null && (
        <p className="fault" role="alert">
          {describeFault(fault, translate)}
        </p>
      )}
      {PASSWORDS.map(name => (
        <label key={name}>
          {translate(LABELS[name])}
          <input
            name={name}
            type="password"
            required
            autoComplete={name === 'currentPassword' ? 'current-password' : 'new-password'}
          />
        </label>
      ))}
      <button type="submit" className="primary">
        {translate('changePassword')}
      </button>
    </form>
  )
}
