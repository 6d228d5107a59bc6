import { useLocaleState } from 'ra-core'
import { type ReactNode, useEffect, useState } from 'react'
import { NavLink, useLocation } from 'react-router-dom'
import { session } from '../api/client.ts'
import type { TypeInfo } from '../api/schema.ts'
import { useSchema } from './context.tsx'
import { LANGUAGES, useTranslate } from './i18n.tsx'
import { NoticeList } from './notices.tsx'

const VIEWS = ['model', 'permissions', 'operations'] as const

export function Layout({ children }: { readonly children: ReactNode }) {
  const translate = useTranslate()
  const { pathname } = useLocation()
  const [open, setOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu of a phone.
  useEffect(() => setOpen(false), [pathname])
  return (
    <div className="layout">
      <a className="skip" href="#content">
        {translate('skip')}
      </a>
      <header className="bar">
        <button
          type="button"
          className="menu quiet"
          aria-expanded={open}
          aria-controls="navigation"
          onClick={() => setOpen(!open)}
        >
          ☰ <span>{translate('menu')}</span>
        </button>
        <strong>{useSchema().name}</strong>
        <Preferences />
      </header>
      <Navigation open={open} />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <NoticeList />
    </div>
  )
}

function Navigation({ open }: { readonly open: boolean }) {
  const translate = useTranslate()
  const { types, views, upload } = useSchema()
  const lists = types.filter(type => type.kind === 'collectionType' && type.actions.has('find'))
  const singles = types.filter(type => type.kind === 'singleType')
  return (
    <nav id="navigation" className={open ? 'open' : undefined} aria-label={translate('navigation')}>
      {lists.length > 0 && <h2>{translate('collections')}</h2>}
      {lists.map(type => (
        <TypeLink key={type.uid} type={type} />
      ))}
      {singles.length > 0 && <h2>{translate('singles')}</h2>}
      {singles.map(type => (
        <TypeLink key={type.uid} type={type} />
      ))}
      {(upload || views.length > 0) && <h2>{translate('tools')}</h2>}
      {upload && <NavLink to="/media">{translate('media')}</NavLink>}
      {VIEWS.filter(view => views.includes(view)).map(view => (
        <NavLink key={view} to={`/${view}`}>
          {translate(view)}
        </NavLink>
      ))}
      {views.includes('permissions') && <NavLink to="/simulator">{translate('simulator')}</NavLink>}
    </nav>
  )
}

const TypeLink = ({ type }: { readonly type: TypeInfo }) => (
  <NavLink to={routeOf(type)}>{type.displayName}</NavLink>
)

/** The path of a type in the console. */
export const routeOf = (type: TypeInfo): string =>
  type.kind === 'singleType' ? `/single/${type.singularName}` : `/content/${type.pluralName}`

const THEME_KEY = 'plinth-theme'
const THEMES = ['system', 'light', 'dark'] as const

/** `system` follows the operating system. */
export function applyTheme(theme = localStorage.getItem(THEME_KEY) ?? 'system'): void {
  document.documentElement.dataset.theme = theme
}

function Preferences() {
  const translate = useTranslate()
  const [language, setLanguage] = useLocaleState()
  const [theme, setTheme] = useState(localStorage.getItem(THEME_KEY) ?? 'system')
  return (
    <div className="preferences">
      <select
        aria-label={translate('language')}
        value={language}
        onChange={event => setLanguage(event.target.value)}
      >
        {LANGUAGES.map(({ locale, name }) => (
          <option key={locale} value={locale}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={translate('theme')}
        value={theme}
        onChange={event => {
          localStorage.setItem(THEME_KEY, event.target.value)
          setTheme(event.target.value)
          applyTheme(event.target.value)
        }}
      >
        {THEMES.map(name => (
          <option key={name} value={name}>
            {translate(name)}
          </option>
        ))}
      </select>
      <NavLink to="/account">{session.user?.username || translate('account')}</NavLink>
      <button type="button" onClick={() => void session.end()}>
        {translate('signOut')}
      </button>
    </div>
  )
}
