-- A shop's checkout in PostgreSQL, in a schema of the run's own. How the sales of a day are kept is put in at the end.
CREATE SCHEMA {schema};

CREATE TABLE {schema}.products (
  product_id uuid PRIMARY KEY,
  name text NOT NULL,
  sku text,
  image text,
  category_id uuid NOT NULL,
  price numeric(12, 2) NOT NULL,
  currency text NOT NULL,
  status text NOT NULL
);

-- Room in every page, so that an update of a row stays in its page and touches no index.
CREATE TABLE {schema}.inventory (
  product_id uuid PRIMARY KEY,
  available integer NOT NULL CHECK (available >= 0)
) WITH (fillfactor = 50);

CREATE TABLE {schema}.cart_items (
  user_id uuid NOT NULL,
  product_id uuid NOT NULL,
  quantity integer NOT NULL,
  unit_price numeric(12, 2) NOT NULL,
  product_name text NOT NULL,
  product_image text,
  PRIMARY KEY (user_id, product_id)
);

CREATE TABLE {schema}.checkouts (
  user_id uuid NOT NULL,
  key text NOT NULL,
  order_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, key)
);

-- A session takes some numbers at once, as the shop's process does.
CREATE SEQUENCE {schema}.order_numbers CACHE 100;

CREATE TABLE {schema}.orders (
  order_id uuid PRIMARY KEY,
  order_number text NOT NULL UNIQUE,
  user_id uuid NOT NULL,
  user_email text NOT NULL,
  customer_name text,
  status text NOT NULL,
  shipping_address jsonb NOT NULL,
  payment_method text NOT NULL,
  payment_status text NOT NULL,
  payment_id text NOT NULL,
  subtotal numeric(12, 2) NOT NULL,
  discount_amount numeric(12, 2) NOT NULL,
  shipping_amount numeric(12, 2) NOT NULL,
  tax_amount numeric(12, 2) NOT NULL,
  total numeric(12, 2) NOT NULL,
  currency text NOT NULL,
  shipping_method text NOT NULL,
  estimated_delivery date,
  item_count integer NOT NULL,
  first_item_name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  paid_at timestamptz
);
CREATE INDEX ON {schema}.orders (user_id, created_at DESC);
CREATE INDEX ON {schema}.orders (status, created_at DESC);

CREATE TABLE {schema}.order_items (
  order_id uuid NOT NULL,
  line_number integer NOT NULL,
  product_id uuid NOT NULL,
  product_name text NOT NULL,
  product_image text,
  sku text,
  unit_price numeric(12, 2) NOT NULL,
  quantity integer NOT NULL,
  line_total numeric(12, 2) NOT NULL,
  category_id uuid NOT NULL,
  PRIMARY KEY (order_id, line_number)
);

CREATE TABLE {schema}.order_status_history (
  order_id uuid NOT NULL,
  step integer NOT NULL,
  status_time timestamptz NOT NULL,
  status text NOT NULL,
  actor text NOT NULL,
  PRIMARY KEY (order_id, step)
);

-- What happened to an order, for whoever follows it: told in the same transaction, as the shop tells it in the same commit.
CREATE TABLE {schema}.event_log (
  aggregate_id uuid NOT NULL,
  event_version bigint NOT NULL,
  event_timestamp timestamptz NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  event_data jsonb NOT NULL,
  PRIMARY KEY (aggregate_id, event_version)
);

CREATE TABLE {schema}.bought_together (
  product_id uuid NOT NULL,
  other_id uuid NOT NULL,
  times integer NOT NULL,
  PRIMARY KEY (product_id, other_id)
);
CREATE INDEX ON {schema}.bought_together (product_id, times DESC);

CREATE TABLE {schema}.daily_sales (
  date date NOT NULL,
  category_id uuid NOT NULL,
  currency text NOT NULL,
  order_count bigint NOT NULL,
  item_count bigint NOT NULL,
  revenue numeric(14, 2) NOT NULL,
  PRIMARY KEY (date, category_id, currency)
) WITH (fillfactor = 20);

-- What each order adds to the sales of its day, to be summed up by whoever reads them.
CREATE TABLE {schema}.daily_sales_parts (
  date date NOT NULL,
  category_id uuid NOT NULL,
  currency text NOT NULL,
  item_count bigint NOT NULL,
  revenue numeric(14, 2) NOT NULL
);

CREATE FUNCTION {schema}.check_out(
  p_user uuid, p_key text, p_order uuid, p_email text, p_name text, p_address jsonb, p_shipping_method text,
  p_shipping_amount numeric, p_free_from numeric, p_tax_rate numeric, p_payment_method text, p_payment_id text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_number text;
  v_line record;
  v_lines integer := 0;
  v_items integer := 0;
  v_subtotal numeric := 0;
  v_shipping numeric;
  v_tax numeric;
  v_currency text;
  v_first text;
  v_products uuid[] := '{}';
  v_categories uuid[] := '{}';
  v_quantities integer[] := '{}';
  v_totals numeric[] := '{}';
BEGIN
  INSERT INTO {schema}.checkouts VALUES (p_user, p_key, p_order, now()) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    SELECT o.order_number INTO v_number
      FROM {schema}.checkouts c JOIN {schema}.orders o USING (order_id)
     WHERE c.user_id = p_user AND c.key = p_key;
    RETURN v_number;
  END IF;
  -- In the order of their keys: two who want the same products do not wait for each other in a circle.
  FOR v_line IN
    SELECT c.product_id, c.quantity, c.unit_price, c.product_name, c.product_image,
           p.price, p.currency, p.sku, p.category_id, p.status
      FROM {schema}.cart_items c JOIN {schema}.products p USING (product_id)
     WHERE c.user_id = p_user
     ORDER BY c.product_id
  LOOP
    IF v_line.status <> 'active' OR v_line.price <> v_line.unit_price THEN
      RAISE EXCEPTION 'the cart has changed';
    END IF;
    UPDATE {schema}.inventory SET available = available - v_line.quantity
     WHERE product_id = v_line.product_id AND available >= v_line.quantity;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'out of stock';
    END IF;
    v_lines := v_lines + 1;
    v_items := v_items + v_line.quantity;
    v_subtotal := v_subtotal + v_line.price * v_line.quantity;
    v_currency := v_line.currency;
    v_first := coalesce(v_first, v_line.product_name);
    v_products := v_products || v_line.product_id;
    v_categories := v_categories || v_line.category_id;
    v_quantities := v_quantities || v_line.quantity;
    v_totals := v_totals || v_line.price * v_line.quantity;
    INSERT INTO {schema}.order_items VALUES (
      p_order, v_lines, v_line.product_id, v_line.product_name, v_line.product_image, v_line.sku, v_line.price,
      v_line.quantity, v_line.price * v_line.quantity, v_line.category_id);
  END LOOP;
  IF v_lines = 0 THEN
    RAISE EXCEPTION 'the cart is empty';
  END IF;
  v_shipping := CASE WHEN v_subtotal >= p_free_from THEN 0 ELSE p_shipping_amount END;
  v_tax := round((v_subtotal + v_shipping) * p_tax_rate, 2);
  v_number := 'ORD-' || to_char(now(), 'YYYY') || '-' || lpad(nextval('{schema}.order_numbers')::text, 6, '0');
  INSERT INTO {schema}.orders VALUES (
    p_order, v_number, p_user, p_email, p_name, 'paid', p_address, p_payment_method, 'captured', p_payment_id,
    v_subtotal, 0, v_shipping, v_tax, v_subtotal + v_shipping + v_tax, v_currency, p_shipping_method,
    current_date + 4, v_items, v_first, now(), now(), now());
  INSERT INTO {schema}.order_status_history VALUES
    (p_order, 1, now(), 'pending', 'customer'), (p_order, 2, now(), 'paid', 'system');
  INSERT INTO {schema}.event_log VALUES
    (p_order, 1, now(), gen_random_uuid(), 'OrderPlaced', jsonb_build_object('order_id', p_order, 'actor', 'customer',
      'order_number', v_number, 'user_id', p_user, 'total', (v_subtotal + v_shipping + v_tax)::text,
      'currency', v_currency, 'item_count', v_items)),
    (p_order, 2, now(), gen_random_uuid(), 'OrderPaid', jsonb_build_object('order_id', p_order, 'actor', 'system'));
  DELETE FROM {schema}.cart_items WHERE user_id = p_user;
  INSERT INTO {schema}.bought_together AS b
    SELECT one, other, 1 FROM unnest(v_products) one, unnest(v_products) other WHERE one <> other ORDER BY one, other
    ON CONFLICT (product_id, other_id) DO UPDATE SET times = b.times + 1;
  -- Last, because every order of the day waits here for the one before.
  {totals};
  RETURN v_number;
END $$;
