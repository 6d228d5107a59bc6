CREATE TABLE public.articles ( id integer NOT NULL, document_id character varying(255), title character varying(255), slug character varying(255), body text, content jsonb, excerpt text, rating integer, price numeric(10,2), views bigint, score double precision, day date, at time without time zone, happens_at timestamp(6) without time zone, stamp timestamp(6) without time zone, featured boolean, kind character varying(255), contact character varying(255), meta jsonb, code character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.articles_author_lnk ( id integer NOT NULL, article_id integer, author_id integer, article_ord double precision );
CREATE TABLE public.articles_categories_lnk ( id integer NOT NULL, article_id integer, category_id integer, category_ord double precision, article_ord double precision );
CREATE TABLE public.articles_cmps ( id integer NOT NULL, entity_id integer, cmp_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.articles_related_lnk ( id integer NOT NULL, article_id integer, inv_article_id integer, article_ord double precision );
CREATE TABLE public.authors ( id integer NOT NULL, document_id character varying(255), name character varying(255), email character varying(255), bio text, secret character varying(255), pin character varying(255), birthday date, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.capitals ( id integer NOT NULL, document_id character varying(255), name character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.categories ( id integer NOT NULL, document_id character varying(255), name character varying(255), slug character varying(255), "position" integer, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.components_blocks_galleries ( id integer NOT NULL, title character varying(255) );
CREATE TABLE public.components_blocks_galleries_cmps ( id integer NOT NULL, entity_id integer, cmp_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.components_blocks_quotes ( id integer NOT NULL, text text );
CREATE TABLE public.components_blocks_quotes_author_lnk ( id integer NOT NULL, quote_id integer, author_id integer );
CREATE TABLE public.components_shared_links ( id integer NOT NULL, label character varying(255), url character varying(255) );
CREATE TABLE public.components_shared_seos ( id integer NOT NULL, meta_title character varying(255), meta_description text, keywords jsonb );
CREATE TABLE public.countries ( id integer NOT NULL, document_id character varying(255), name character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.countries_capital_lnk ( id integer NOT NULL, country_id integer, capital_id integer );
CREATE TABLE public.dishes ( id integer NOT NULL, document_id character varying(255), name character varying(255), price numeric(10,2), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.dishes_restaurant_lnk ( id integer NOT NULL, dish_id integer, restaurant_id integer, dish_ord double precision );
CREATE TABLE public.files ( id integer NOT NULL, document_id character varying(255), name character varying(255), alternative_text text, caption text, focal_point jsonb, width integer, height integer, formats jsonb, hash character varying(255), ext character varying(255), mime character varying(255), size numeric(10,2), url text, preview_url text, provider character varying(255), provider_metadata jsonb, folder_path character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.files_folder_lnk ( id integer NOT NULL, file_id integer, folder_id integer, file_ord double precision );
CREATE TABLE public.files_related_mph ( id integer NOT NULL, file_id integer, related_id integer, related_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.homepages ( id integer NOT NULL, document_id character varying(255), title character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.homepages_cmps ( id integer NOT NULL, entity_id integer, cmp_id integer, component_type character varying(255), field character varying(255), "order" double precision );
CREATE TABLE public.homepages_featured_lnk ( id integer NOT NULL, homepage_id integer, article_id integer, article_ord double precision );
CREATE TABLE public.i18n_locale ( id integer NOT NULL, document_id character varying(255), name character varying(255), code character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.restaurants ( id integer NOT NULL, document_id character varying(255), name character varying(255), description text, opened boolean, stars integer, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.restaurants_chef_lnk ( id integer NOT NULL, restaurant_id integer, author_id integer );
CREATE TABLE public.restaurants_owner_lnk ( id integer NOT NULL, restaurant_id integer, user_id integer );
CREATE TABLE public.settings ( id integer NOT NULL, document_id character varying(255), site_name character varying(255), footer text, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.strapi_api_tokens ( id integer NOT NULL, document_id character varying(255), name character varying(255), description character varying(255), kind character varying(255), type character varying(255), access_key character varying(255), encrypted_key text, last_used_at timestamp(6) without time zone, expires_at timestamp(6) without time zone, lifespan bigint, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.strapi_core_store_settings ( id integer NOT NULL, key character varying(255), value text, type character varying(255), environment character varying(255), tag character varying(255) );
CREATE TABLE public.up_permissions ( id integer NOT NULL, document_id character varying(255), action character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.up_permissions_role_lnk ( id integer NOT NULL, permission_id integer, role_id integer, permission_ord double precision );
CREATE TABLE public.up_roles ( id integer NOT NULL, document_id character varying(255), name character varying(255), description character varying(255), type character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.up_users ( id integer NOT NULL, document_id character varying(255), username character varying(255), email character varying(255), provider character varying(255), password character varying(255), reset_password_token character varying(255), confirmation_token character varying(255), confirmed boolean, blocked boolean, created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.up_users_role_lnk ( id integer NOT NULL, user_id integer, role_id integer, user_ord double precision );
CREATE TABLE public.upload_folders ( id integer NOT NULL, document_id character varying(255), name character varying(255), path_id integer, path character varying(255), created_at timestamp(6) without time zone, updated_at timestamp(6) without time zone, published_at timestamp(6) without time zone, created_by_id integer, updated_by_id integer, locale character varying(255) );
CREATE TABLE public.upload_folders_parent_lnk ( id integer NOT NULL, folder_id integer, inv_folder_id integer, folder_ord double precision );
INSERT INTO public.articles VALUES
	(3, 'b8ljthv35jl0jblbqw5ikt2x', 'Third draft', 'third-draft', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A3', '2026-11-21 19:33:40.903', '2026-11-21 19:33:40.903', NULL, NULL, NULL, 'en'),
	(1, 'oarcjjx1xode5k243ynftyip', 'First steps', 'first-steps', '# Hello', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 19:33:40.617', '2026-11-21 19:33:41.098', NULL, NULL, NULL, 'en'),
	(4, 'mlkkwq14asvigrn07nhjbpxl', 'Second look', 'second-look', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A2', '2026-11-21 19:33:40.769', '2026-11-21 19:33:40.769', '2026-11-21 19:33:41.339', NULL, NULL, 'en'),
	(5, 'oarcjjx1xode5k243ynftyip', 'Premiers pas', 'premiers-pas', '# Bonjour', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 19:33:41.715', '2026-11-21 19:33:41.715', NULL, NULL, NULL, 'fr'),
	(6, 'oarcjjx1xode5k243ynftyip', 'Premiers pas', 'premiers-pas', '# Bonjour', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 19:33:41.715', '2026-11-21 19:33:41.715', '2026-11-21 19:33:41.93', NULL, NULL, 'fr'),
	(7, 'oarcjjx1xode5k243ynftyip', 'First steps', 'first-steps', '# Hello', '[{"type": "paragraph", "children": [{"text": "Hi", "type": "text"}]}]', 'Short', 7, 12.50, 9007199254740993, 1.25, '2024-02-29', '10:30:00', '2024-02-29 10:30:00', NULL, true, 'opinion', 'a@example.org', '{"deep": [1, null, "x"]}', 'A1', '2026-11-21 19:33:40.617', '2026-11-21 19:33:41.098', '2026-11-21 19:33:41.93', NULL, NULL, 'en'),
	(2, 'mlkkwq14asvigrn07nhjbpxl', 'Second look, changed', 'second-look', NULL, NULL, NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A2', '2026-11-21 19:33:40.769', '2026-11-21 19:33:42.657', NULL, NULL, NULL, 'en'),
	(8, 'cq1v4zif997xgsdcj6p934wr', 'Solo italiano', 'solo', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, 'news', NULL, NULL, 'A4', '2026-11-21 19:33:42.788', '2026-11-21 19:33:42.788', NULL, NULL, NULL, 'it');
INSERT INTO public.articles_author_lnk VALUES
	(1, 1, 1, 1),
	(2, 2, 1, 2),
	(3, 3, 2, 1),
	(4, 4, 1, 2),
	(5, 5, 3, 1),
	(6, 6, 3, 1),
	(7, 7, 1, 1);
INSERT INTO public.articles_categories_lnk VALUES
	(1, 1, 3, 1, 1),
	(6, 4, 2, 2, 1),
	(7, 5, 2, 1, 2),
	(8, 6, 2, 1, 2),
	(9, 7, 3, 1, 1),
	(2, 1, 1, 2, 1),
	(5, 4, 1, 1, 3),
	(10, 7, 1, 2, 2),
	(4, 2, 2, 1, 1);
INSERT INTO public.articles_cmps VALUES
	(1, 1, 1, 'shared.seo', 'seo', NULL),
	(2, 1, 1, 'shared.link', 'links', 1),
	(3, 1, 2, 'shared.link', 'links', 2),
	(4, 1, 3, 'shared.link', 'blocks', 1),
	(5, 1, 1, 'blocks.quote', 'blocks', 2),
	(6, 1, 1, 'blocks.gallery', 'blocks', 3),
	(7, 1, 4, 'shared.link', 'blocks', 4),
	(8, 5, 2, 'shared.seo', 'seo', NULL),
	(9, 5, 7, 'shared.link', 'links', 1),
	(10, 5, 8, 'shared.link', 'links', 2),
	(11, 5, 9, 'shared.link', 'blocks', 1),
	(12, 5, 2, 'blocks.quote', 'blocks', 2),
	(13, 5, 2, 'blocks.gallery', 'blocks', 3),
	(14, 5, 10, 'shared.link', 'blocks', 4),
	(15, 6, 3, 'shared.seo', 'seo', NULL),
	(16, 6, 13, 'shared.link', 'links', 1),
	(17, 6, 14, 'shared.link', 'links', 2),
	(18, 7, 4, 'shared.seo', 'seo', NULL),
	(19, 6, 17, 'shared.link', 'blocks', 1),
	(20, 6, 3, 'blocks.quote', 'blocks', 2),
	(21, 6, 3, 'blocks.gallery', 'blocks', 3),
	(22, 6, 18, 'shared.link', 'blocks', 4),
	(23, 7, 15, 'shared.link', 'links', 1),
	(24, 7, 16, 'shared.link', 'links', 2),
	(25, 7, 21, 'shared.link', 'blocks', 1),
	(26, 7, 4, 'blocks.quote', 'blocks', 2),
	(27, 7, 4, 'blocks.gallery', 'blocks', 3),
	(28, 7, 22, 'shared.link', 'blocks', 4);
INSERT INTO public.articles_related_lnk VALUES
	(1, 2, 1, 1),
	(2, 1, 3, 1),
	(3, 1, 2, 2),
	(4, 7, 4, 2),
	(5, 4, 7, 1);
INSERT INTO public.authors VALUES
	(1, 'dsxw4pkl9r8pw2jhlwm9t7vo', 'Ida', 'ida@example.org', '**Ida** writes', 'hush', '$2a$10$M7CV/RoOC4o5rnpk7osxgOaNPTaObC4qCsQiH7T7qo7kGVIxxNEq.', '1990-02-28', '2026-11-21 19:33:40.426', '2026-11-21 19:33:40.426', '2026-11-21 19:33:40.206', NULL, NULL, NULL),
	(2, 'lfzpfmcuep2528qmxwtg2csl', 'Jon', NULL, NULL, NULL, NULL, NULL, '2026-11-21 19:33:40.456', '2026-11-21 19:33:40.456', '2026-11-21 19:33:40.455', NULL, NULL, NULL),
	(3, 'thoisot8nb8ok2cckzog9hkf', 'Kim', NULL, NULL, NULL, NULL, NULL, '2026-11-21 19:33:40.483', '2026-11-21 19:33:40.483', '2026-11-21 19:33:40.481', NULL, NULL, NULL);
INSERT INTO public.capitals VALUES
	(1, 'ph41ixghukvnaejtnsm58zhu', 'Stockholm', '2026-11-21 19:33:43.201', '2026-11-21 19:33:43.201', '2026-11-21 19:33:43.163', NULL, NULL, NULL);
INSERT INTO public.categories VALUES
	(1, 'twauabsumoxbdnpyaimu7bgi', 'News', 'news', 0, '2026-11-21 19:33:40.131', '2026-11-21 19:33:40.131', '2026-11-21 19:33:40.113', NULL, NULL, NULL),
	(2, 'ooqsi9kgttvwbqz7r8luiun7', 'Food', 'food', 1, '2026-11-21 19:33:40.17', '2026-11-21 19:33:40.17', '2026-11-21 19:33:40.154', NULL, NULL, NULL),
	(3, 'bttcxxmmjj99d6nz5m4kakn7', 'Travel', 'travel', 2, '2026-11-21 19:33:40.191', '2026-11-21 19:33:40.191', '2026-11-21 19:33:40.182', NULL, NULL, NULL);
INSERT INTO public.components_blocks_galleries VALUES
	(1, 'G'),
	(2, 'G'),
	(3, 'G'),
	(4, 'G');
INSERT INTO public.components_blocks_galleries_cmps VALUES
	(1, 1, 5, 'shared.link', 'links', 1),
	(2, 1, 6, 'shared.link', 'links', 2),
	(3, 2, 11, 'shared.link', 'links', 1),
	(4, 2, 12, 'shared.link', 'links', 2),
	(5, 3, 19, 'shared.link', 'links', 1),
	(6, 3, 20, 'shared.link', 'links', 2),
	(7, 4, 23, 'shared.link', 'links', 1),
	(8, 4, 24, 'shared.link', 'links', 2);
INSERT INTO public.components_blocks_quotes VALUES
	(1, 'Q'),
	(2, 'Q'),
	(3, 'Q'),
	(4, 'Q');
INSERT INTO public.components_blocks_quotes_author_lnk VALUES
	(1, 1, 2),
	(2, 2, 2),
	(3, 3, 2),
	(4, 4, 2);
INSERT INTO public.components_shared_links VALUES
	(1, 'One', '/1'),
	(2, 'Two', '/2'),
	(3, 'L', '/l'),
	(4, 'L2', '/l2'),
	(5, 'in', '/in'),
	(6, 'in2', '/in2'),
	(7, 'One', '/1'),
	(8, 'Two', '/2'),
	(9, 'L', '/l'),
	(10, 'L2', '/l2'),
	(11, 'in', '/in'),
	(12, 'in2', '/in2'),
	(13, 'One', '/1'),
	(14, 'Two', '/2'),
	(15, 'One', '/1'),
	(16, 'Two', '/2'),
	(17, 'L', '/l'),
	(18, 'L2', '/l2'),
	(19, 'in', '/in'),
	(20, 'in2', '/in2'),
	(21, 'L', '/l'),
	(22, 'L2', '/l2'),
	(23, 'in', '/in'),
	(24, 'in2', '/in2');
INSERT INTO public.components_shared_seos VALUES
	(1, 'First', 'The first', '["a", {"b": 1}]'),
	(2, 'First', 'The first', '["a", {"b": 1}]'),
	(3, 'First', 'The first', '["a", {"b": 1}]'),
	(4, 'First', 'The first', '["a", {"b": 1}]'),
	(5, 'Hero', NULL, NULL),
	(6, 'Hero', NULL, NULL);
INSERT INTO public.countries VALUES
	(1, 'yvuy0uo2wxqa40vbzp9l0a0m', 'Sweden', '2026-11-21 19:33:43.142', '2026-11-21 19:33:43.142', '2026-11-21 19:33:43.141', NULL, NULL, NULL),
	(2, 'wtxlw2ifq0mprz911nvzem6x', 'Atlantis', '2026-11-21 19:33:43.253', '2026-11-21 19:33:43.253', '2026-11-21 19:33:43.253', NULL, NULL, NULL);
INSERT INTO public.countries_capital_lnk VALUES
	(1, 1, 1);
INSERT INTO public.dishes VALUES
	(1, 'lzzivugnokig5f0z3oneh9id', 'Soup', 4.50, '2026-11-21 19:33:43.031', '2026-11-21 19:33:43.031', '2026-11-21 19:33:43.006', NULL, NULL, NULL),
	(2, 'wt4x4975rdz6iy0f5qvmvkat', 'Cake', 5.00, '2026-11-21 19:33:43.095', '2026-11-21 19:33:43.095', '2026-11-21 19:33:43.082', NULL, NULL, NULL),
	(3, 'l2poeo3f7x09owhomu8kpggc', 'Nuts', NULL, '2026-11-21 19:33:43.118', '2026-11-21 19:33:43.118', '2026-11-21 19:33:43.108', NULL, NULL, NULL);
INSERT INTO public.dishes_restaurant_lnk VALUES
	(1, 1, 1, 1),
	(2, 1, 2, 1),
	(3, 2, 2, 2),
	(4, 3, 3, 1);
INSERT INTO public.files VALUES
	(1, 'lq8ssrkrkiememalagbyv88u', 'red.png', 'Red', 'All red', NULL, 4, 4, NULL, 'red_1957cf93cd', '.png', 'image/png', 0.10, '/uploads/red_1957cf93cd.png', NULL, 'local', NULL, '/', '2026-11-21 19:33:39.189', '2026-11-21 19:33:39.189', '2026-11-21 19:33:39.189', NULL, NULL, NULL),
	(2, 'ntl4jzrsql52jfd1zd5lv53e', 'blue.png', NULL, NULL, NULL, 4, 4, NULL, 'blue_edca552ce5', '.png', 'image/png', 0.10, '/uploads/blue_edca552ce5.png', NULL, 'local', NULL, '/', '2026-11-21 19:33:39.269', '2026-11-21 19:33:39.269', '2026-11-21 19:33:39.269', NULL, NULL, NULL),
	(3, 'z5jtml0690ehwyf5sbiwm40f', 'green.png', NULL, NULL, NULL, 4, 4, NULL, 'green_664eaba91d', '.png', 'image/png', 0.10, '/uploads/green_664eaba91d.png', NULL, 'local', NULL, '/', '2026-11-21 19:33:39.355', '2026-11-21 19:33:39.355', '2026-11-21 19:33:39.356', NULL, NULL, NULL);
INSERT INTO public.files_related_mph VALUES
	(1, 1, 1, 'api::author.author', 'avatar', 1),
	(2, 1, 1, 'shared.seo', 'shareImage', 1),
	(3, 2, 1, 'blocks.gallery', 'images', 1),
	(4, 3, 1, 'blocks.gallery', 'images', 2),
	(5, 1, 1, 'api::article.article', 'cover', 1),
	(6, 3, 1, 'api::article.article', 'gallery', 1),
	(7, 2, 1, 'api::article.article', 'gallery', 2),
	(8, 1, 1, 'api::article.article', 'gallery', 3),
	(9, 1, 2, 'shared.seo', 'shareImage', 1),
	(10, 2, 2, 'blocks.gallery', 'images', 1),
	(11, 3, 2, 'blocks.gallery', 'images', 2),
	(12, 1, 5, 'api::article.article', 'cover', 1),
	(13, 3, 5, 'api::article.article', 'gallery', 1),
	(14, 2, 5, 'api::article.article', 'gallery', 2),
	(15, 1, 5, 'api::article.article', 'gallery', 3),
	(16, 1, 3, 'shared.seo', 'shareImage', 1),
	(17, 1, 4, 'shared.seo', 'shareImage', 1),
	(18, 2, 3, 'blocks.gallery', 'images', 1),
	(19, 3, 3, 'blocks.gallery', 'images', 2),
	(20, 2, 4, 'blocks.gallery', 'images', 1),
	(21, 3, 4, 'blocks.gallery', 'images', 2),
	(22, 1, 6, 'api::article.article', 'cover', 1),
	(23, 3, 6, 'api::article.article', 'gallery', 1),
	(24, 2, 6, 'api::article.article', 'gallery', 2),
	(25, 1, 6, 'api::article.article', 'gallery', 3),
	(26, 1, 7, 'api::article.article', 'cover', 1),
	(27, 3, 7, 'api::article.article', 'gallery', 1),
	(28, 2, 7, 'api::article.article', 'gallery', 2),
	(29, 1, 7, 'api::article.article', 'gallery', 3);
INSERT INTO public.homepages VALUES
	(1, 'g0x4yv9hg47fec6bsmznijxk', 'Home', '2026-11-21 19:33:43.317', '2026-11-21 19:33:43.317', NULL, NULL, NULL, 'en'),
	(2, 'g0x4yv9hg47fec6bsmznijxk', 'Home', '2026-11-21 19:33:43.317', '2026-11-21 19:33:43.317', '2026-11-21 19:33:43.412', NULL, NULL, 'en');
INSERT INTO public.homepages_cmps VALUES
	(1, 1, 5, 'shared.seo', 'hero', NULL),
	(2, 2, 6, 'shared.seo', 'hero', NULL);
INSERT INTO public.homepages_featured_lnk VALUES
	(1, 1, 2, 1),
	(2, 1, 1, 2),
	(3, 2, 4, 1),
	(4, 2, 7, 2);
INSERT INTO public.i18n_locale VALUES
	(1, 'kqlbslsc2p44ynceqjkwu8qv', 'English (en)', 'en', '2026-11-21 19:33:33.254', '2026-11-21 19:33:33.254', '2026-11-21 19:33:33.255', NULL, NULL, NULL),
	(2, 'pcyu37ok9zpa8hiy551byr3x', 'French (fr)', 'fr', '2026-11-21 19:33:38.082', '2026-11-21 19:33:38.082', '2026-11-21 19:33:38.082', NULL, NULL, NULL),
	(3, 'v88mb71ofx0q1dncs0r6rnp4', 'Italian (it)', 'it', '2026-11-21 19:33:38.686', '2026-11-21 19:33:38.686', '2026-11-21 19:33:38.686', NULL, NULL, NULL);
INSERT INTO public.restaurants VALUES
	(1, 'rq43nnxb1mexv6pij60jmoka', 'Café', 'Nice', true, 3, '2026-11-21 19:33:42.841', '2026-11-21 19:33:42.841', NULL, NULL, NULL, NULL),
	(2, 'rq43nnxb1mexv6pij60jmoka', 'Café', 'Nice', true, 3, '2026-11-21 19:33:42.841', '2026-11-21 19:33:42.841', '2026-11-21 19:33:42.893', NULL, NULL, NULL),
	(3, 'f2djn87j7var73zchucj3yj4', 'Bar', NULL, false, NULL, '2026-11-21 19:33:42.986', '2026-11-21 19:33:42.986', NULL, NULL, NULL, NULL);
INSERT INTO public.restaurants_chef_lnk VALUES
	(1, 1, 1),
	(2, 2, 1);
INSERT INTO public.restaurants_owner_lnk VALUES
	(1, 1, 1),
	(2, 2, 1);
INSERT INTO public.settings VALUES
	(1, 'jzidrvnqbg7yn1f2z3twcrb9', 'Fixture', 'Feet', '2026-11-21 19:33:43.487', '2026-11-21 19:33:43.487', '2026-11-21 19:33:43.487', NULL, NULL, NULL);
INSERT INTO public.strapi_api_tokens VALUES
	(3, 'vzyp7oo54yyo0psyvdhmzz6n', 'Website', '', 'content-api', 'read-only', 'removed', NULL, NULL, NULL, NULL, '2026-11-21 19:33:43.498', '2026-11-21 19:33:43.498', '2026-11-21 19:33:43.499', NULL, NULL, NULL);
INSERT INTO public.strapi_core_store_settings VALUES
	(37, 'plugin_i18n_default_locale', '"en"', 'string', NULL, NULL),
	(40, 'plugin_users-permissions_advanced', '{"unique_email":true,"allow_register":true,"email_confirmation":false,"email_reset_password":null,"email_confirmation_redirection":null,"default_role":"authenticated"}', 'object', NULL, NULL);
INSERT INTO public.up_permissions VALUES
	(1, 'uzv90xs4ja92bi18pso1ztnz', 'plugin::users-permissions.auth.logout', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.519', NULL, NULL, NULL),
	(2, 'hjz31bgsolpfpoz4a50m1mgy', 'plugin::users-permissions.auth.getSessions', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.519', NULL, NULL, NULL),
	(3, 'a1rsz6o7itwk8er6qxqnjmz1', 'plugin::users-permissions.user.me', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.519', NULL, NULL, NULL),
	(4, 'gh2o32o6p4yk0vsii5z0qyi6', 'plugin::users-permissions.auth.revokeSession', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.519', NULL, NULL, NULL),
	(5, 'xm89nyhpgzacye8z4vapc5vq', 'plugin::users-permissions.auth.changePassword', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.518', '2026-11-21 19:33:33.519', NULL, NULL, NULL),
	(6, 'hjxn27i831ledv689jg4eebl', 'plugin::users-permissions.auth.callback', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(7, 'f4vk2ev3w5g2nb75cwvbgbxp', 'plugin::users-permissions.auth.connect', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(8, 'ufnchd1s05uk5k971rl28tzn', 'plugin::users-permissions.auth.emailConfirmation', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(9, 'hlxr3ktbtg1x3h9ddaioarcj', 'plugin::users-permissions.auth.forgotPassword', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(10, 'mi7gdngdesjihodw2e772ig6', 'plugin::users-permissions.auth.register', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(11, 'dzx1norcsn5n355hs2uthyil', 'plugin::users-permissions.auth.resetPassword', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(12, 'ub9a76yj3jrhxjywl08ed36y', 'plugin::users-permissions.auth.refresh', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(13, 'morcw4asyn6snlmyn1gqubk7', 'plugin::users-permissions.auth.sendEmailConfirmation', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.565', '2026-11-21 19:33:33.566', NULL, NULL, NULL),
	(14, 'y4s8qcpsgvbq8s1edn6q10xx', 'api::article.article.findOne', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.379', NULL, NULL, NULL),
	(15, 'pglnk1vmeghyq2nte2utfy7j', 'api::article.article.find', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.378', NULL, NULL, NULL),
	(16, 'c1ap5x7b5tw0xkq7b8yvxycz', 'plugin::i18n.locales.listLocales', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.379', NULL, NULL, NULL),
	(17, 'az8mm2ets1jnrm67bhtubk7i', 'api::category.category.find', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.378', '2026-11-21 19:33:39.379', NULL, NULL, NULL),
	(18, 'qhv0rf8izqzgdokotdp1tntu', 'api::article.article.find', '2026-11-21 19:33:39.414', '2026-11-21 19:33:39.414', '2026-11-21 19:33:39.414', NULL, NULL, NULL),
	(19, 'xy0t7km6pcmm3o6ifkhi4niq', 'api::author.author.find', '2026-11-21 19:33:39.414', '2026-11-21 19:33:39.414', '2026-11-21 19:33:39.415', NULL, NULL, NULL),
	(20, 'o2fa0exettc3s2ypibvtmai7', 'api::article.article.find', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', NULL, NULL, NULL),
	(21, 'u7ycz5jl3czclo08o4o1hv5t', 'api::article.article.delete', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(22, 'amexbmg092kblt5rf8ikgdk0', 'api::article.article.update', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(23, 'w3ts4fhtmzz731vum7i30tvb', 'api::article.article.create', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(24, 'bii6ghlk4kratdndlvg5cvet', 'plugin::users-permissions.user.me', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(25, 'pgsybih4qe3omq0v07p5c9nr', 'api::article.article.archive', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(26, 'ju4vk126znxc5swv6drm12vy', 'plugin::upload.content-api.upload', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.438', NULL, NULL, NULL),
	(27, 'l2y4x6m46i4bxv3mhoe6c7p7', 'api::article.article.findOne', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', '2026-11-21 19:33:39.437', NULL, NULL, NULL);
INSERT INTO public.up_permissions_role_lnk VALUES
	(1, 1, 1, 1),
	(2, 3, 1, 1),
	(3, 2, 1, 2),
	(4, 4, 1, 2),
	(5, 5, 1, 2),
	(6, 6, 2, 1),
	(7, 10, 2, 1),
	(8, 7, 2, 1),
	(9, 8, 2, 1),
	(10, 11, 2, 2),
	(11, 9, 2, 2),
	(12, 13, 2, 2),
	(13, 12, 2, 3),
	(14, 15, 2, 4),
	(15, 16, 2, 4),
	(16, 17, 2, 4),
	(17, 14, 2, 5),
	(18, 18, 1, 3),
	(19, 19, 1, 3),
	(20, 23, 3, 1),
	(21, 21, 3, 1),
	(22, 22, 3, 1),
	(23, 20, 3, 1),
	(24, 25, 3, 2),
	(25, 26, 3, 2),
	(26, 24, 3, 3),
	(27, 27, 3, 3);
INSERT INTO public.up_roles VALUES
	(1, 'f6msfb5a8gxevjxsbs18iw5o', 'Authenticated', 'Default role given to authenticated user.', 'authenticated', '2026-11-21 19:33:33.437', '2026-11-21 19:33:33.437', '2026-11-21 19:33:33.437', NULL, NULL, NULL),
	(2, 'agjxay7tzsbrdyxqrye1sv6o', 'Public', 'Default role given to unauthenticated user.', 'public', '2026-11-21 19:33:33.466', '2026-11-21 19:33:33.466', '2026-11-21 19:33:33.466', NULL, NULL, NULL),
	(3, 'fpdquy5aql5lqsat7lw8j196', 'Editor', 'Writes', 'editor', '2026-11-21 19:33:39.371', '2026-11-21 19:33:39.371', '2026-11-21 19:33:39.371', NULL, NULL, NULL);
INSERT INTO public.up_users VALUES
	(1, 'pl3ysx1d9wsfic9yptwdat3k', 'ann', 'ann@example.org', 'local', '$2a$10$ObU14s1vzjGzX3qdmyFmtu2xOSzmL1i33b3NdrI2oJD1Dzmf7S0za', NULL, NULL, true, false, '2026-11-21 19:33:39.763', '2026-11-21 19:33:39.763', '2026-11-21 19:33:39.47', NULL, NULL, NULL),
	(2, 'zfg1jcs1d2ktw7vd1p3jhg4q', 'bob', 'bob@example.org', 'local', '$2a$10$4QIlQo4phNJYhqtZttcCs.2Lo79pEOd3.V52VQl7CeSFVCJFYzhoq', NULL, NULL, true, true, '2026-11-21 19:33:40.054', '2026-11-21 19:33:40.054', '2026-11-21 19:33:39.798', NULL, NULL, NULL);
INSERT INTO public.up_users_role_lnk VALUES
	(1, 1, 3, 1),
	(2, 2, 1, 1);
ALTER TABLE ONLY public.articles_author_lnk ADD CONSTRAINT articles_author_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_categories_lnk ADD CONSTRAINT articles_categories_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_cmps ADD CONSTRAINT articles_cmps_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles ADD CONSTRAINT articles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_related_lnk ADD CONSTRAINT articles_related_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.authors ADD CONSTRAINT authors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.capitals ADD CONSTRAINT capitals_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.categories ADD CONSTRAINT categories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_galleries_cmps ADD CONSTRAINT components_blocks_galleries_cmps_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_galleries ADD CONSTRAINT components_blocks_galleries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_quotes_author_lnk ADD CONSTRAINT components_blocks_quotes_author_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_blocks_quotes ADD CONSTRAINT components_blocks_quotes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_shared_links ADD CONSTRAINT components_shared_links_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.components_shared_seos ADD CONSTRAINT components_shared_seos_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.countries_capital_lnk ADD CONSTRAINT countries_capital_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.countries ADD CONSTRAINT countries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dishes ADD CONSTRAINT dishes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dishes_restaurant_lnk ADD CONSTRAINT dishes_restaurant_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files_folder_lnk ADD CONSTRAINT files_folder_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files ADD CONSTRAINT files_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.files_related_mph ADD CONSTRAINT files_related_mph_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages_cmps ADD CONSTRAINT homepages_cmps_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages_featured_lnk ADD CONSTRAINT homepages_featured_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.homepages ADD CONSTRAINT homepages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.i18n_locale ADD CONSTRAINT i18n_locale_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants_chef_lnk ADD CONSTRAINT restaurants_chef_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants_owner_lnk ADD CONSTRAINT restaurants_owner_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.restaurants ADD CONSTRAINT restaurants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.settings ADD CONSTRAINT settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.strapi_api_tokens ADD CONSTRAINT strapi_api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.strapi_core_store_settings ADD CONSTRAINT strapi_core_store_settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_permissions ADD CONSTRAINT up_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_permissions_role_lnk ADD CONSTRAINT up_permissions_role_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_roles ADD CONSTRAINT up_roles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_users ADD CONSTRAINT up_users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.up_users_role_lnk ADD CONSTRAINT up_users_role_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upload_folders_parent_lnk ADD CONSTRAINT upload_folders_parent_lnk_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.upload_folders ADD CONSTRAINT upload_folders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.articles_author_lnk ADD CONSTRAINT articles_author_lnk_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_author_lnk ADD CONSTRAINT articles_author_lnk_ifk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_categories_lnk ADD CONSTRAINT articles_categories_lnk_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_categories_lnk ADD CONSTRAINT articles_categories_lnk_ifk FOREIGN KEY (category_id) REFERENCES public.categories(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_cmps ADD CONSTRAINT articles_entity_fk FOREIGN KEY (entity_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_related_lnk ADD CONSTRAINT articles_related_lnk_fk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.articles_related_lnk ADD CONSTRAINT articles_related_lnk_ifk FOREIGN KEY (inv_article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_galleries_cmps ADD CONSTRAINT components_blocks_galleries_entity_fk FOREIGN KEY (entity_id) REFERENCES public.components_blocks_galleries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_quotes_author_lnk ADD CONSTRAINT components_blocks_quotes_author_lnk_fk FOREIGN KEY (quote_id) REFERENCES public.components_blocks_quotes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components_blocks_quotes_author_lnk ADD CONSTRAINT components_blocks_quotes_author_lnk_ifk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.countries_capital_lnk ADD CONSTRAINT countries_capital_lnk_fk FOREIGN KEY (country_id) REFERENCES public.countries(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.countries_capital_lnk ADD CONSTRAINT countries_capital_lnk_ifk FOREIGN KEY (capital_id) REFERENCES public.capitals(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dishes_restaurant_lnk ADD CONSTRAINT dishes_restaurant_lnk_fk FOREIGN KEY (dish_id) REFERENCES public.dishes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dishes_restaurant_lnk ADD CONSTRAINT dishes_restaurant_lnk_ifk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_folder_lnk ADD CONSTRAINT files_folder_lnk_fk FOREIGN KEY (file_id) REFERENCES public.files(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_folder_lnk ADD CONSTRAINT files_folder_lnk_ifk FOREIGN KEY (folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.files_related_mph ADD CONSTRAINT files_related_mph_fk FOREIGN KEY (file_id) REFERENCES public.files(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_cmps ADD CONSTRAINT homepages_entity_fk FOREIGN KEY (entity_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_featured_lnk ADD CONSTRAINT homepages_featured_lnk_fk FOREIGN KEY (homepage_id) REFERENCES public.homepages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.homepages_featured_lnk ADD CONSTRAINT homepages_featured_lnk_ifk FOREIGN KEY (article_id) REFERENCES public.articles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_chef_lnk ADD CONSTRAINT restaurants_chef_lnk_fk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_chef_lnk ADD CONSTRAINT restaurants_chef_lnk_ifk FOREIGN KEY (author_id) REFERENCES public.authors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_owner_lnk ADD CONSTRAINT restaurants_owner_lnk_fk FOREIGN KEY (restaurant_id) REFERENCES public.restaurants(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.restaurants_owner_lnk ADD CONSTRAINT restaurants_owner_lnk_ifk FOREIGN KEY (user_id) REFERENCES public.up_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_permissions_role_lnk ADD CONSTRAINT up_permissions_role_lnk_fk FOREIGN KEY (permission_id) REFERENCES public.up_permissions(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_permissions_role_lnk ADD CONSTRAINT up_permissions_role_lnk_ifk FOREIGN KEY (role_id) REFERENCES public.up_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_users_role_lnk ADD CONSTRAINT up_users_role_lnk_fk FOREIGN KEY (user_id) REFERENCES public.up_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.up_users_role_lnk ADD CONSTRAINT up_users_role_lnk_ifk FOREIGN KEY (role_id) REFERENCES public.up_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upload_folders_parent_lnk ADD CONSTRAINT upload_folders_parent_lnk_fk FOREIGN KEY (folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.upload_folders_parent_lnk ADD CONSTRAINT upload_folders_parent_lnk_ifk FOREIGN KEY (inv_folder_id) REFERENCES public.upload_folders(id) ON DELETE CASCADE;
