import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router-dom'
import { page } from './api/client.ts'
import { ConsoleApp } from './app.tsx'
import { applyTheme } from './shell/layout.tsx'
import './styles/base.css'
import './styles/content.css'
import './styles/views.css'

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
