import type { ReactNode } from 'react'

// SVG, because not every system has a font with these symbols. The buttons have the accessible names.

const Icon = ({ children }: { readonly children: ReactNode }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    {children}
  </svg>
)

export const CopyIcon = () => (
  <Icon>
    <path d="M5.5 5.5h8v8h-8zM2.5 10.5v-8h8" />
  </Icon>
)

export const LinkIcon = () => (
  <Icon>
    <path d="M6.5 9.5l3-3M7 4.5l2-2a3.2 3.2 0 0 1 4.5 4.5l-2 2M9 11.5l-2 2a3.2 3.2 0 0 1-4.5-4.5l2-2" />
  </Icon>
)

export const PictureIcon = () => (
  <Icon>
    <path d="M1.5 2.5h13v11h-13zM2 12l4-5 3 4 2-2 3 3" />
  </Icon>
)
