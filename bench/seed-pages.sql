-- Ten pages of 40 blocks: texts with an author, and lists of seven cards with an article.
INSERT INTO pages (id, document_id, created_at, updated_at, published_at, title) OVERRIDING SYSTEM VALUE
SELECT n, 'page-' || n, now(), now(), now(), 'Page ' || n FROM generate_series(1, 10) AS n;

INSERT INTO components_block_text (id, status, owner, owner_key, position, heading, body, author_key)
OVERRIDING SYSTEM VALUE
SELECT 20 * page + block, 'published', 'page.blocks', page, 2 * block - 1, 'Text ' || block,
  repeat('A paragraph of body text, as long as such things are. ', 20), (page + block) % 100 + 1
FROM generate_series(1, 10) AS page, generate_series(1, 20) AS block;

INSERT INTO components_block_cards (id, status, owner, owner_key, position, heading) OVERRIDING SYSTEM VALUE
SELECT 20 * page + block, 'published', 'page.blocks', page, 2 * block, 'Cards ' || block
FROM generate_series(1, 10) AS page, generate_series(1, 20) AS block;

INSERT INTO components_part_card (id, status, owner, owner_key, position, title, text, article_key, article_draft_key)
OVERRIDING SYSTEM VALUE
SELECT 7 * list + card, 'published', 'block.cards.cards', list, card, 'Card ' || card,
  repeat('A card says in a few words what it leads to. ', 9), article.key, article.key
FROM generate_series(21, 220) AS list, generate_series(1, 7) AS card,
  LATERAL (VALUES (2 * ((list * 7 + card) % 1000) + 1)) AS article (key);

VACUUM ANALYZE pages, components_block_text, components_block_cards, components_part_card;
