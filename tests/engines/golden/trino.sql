SELECT
  COUNT(*) AS "n"
FROM "patients" AS "t0";

SELECT
  "t1"."key0",
  COUNT(*) AS "weight"
FROM (
  SELECT
    (
      CAST(CASE
        WHEN "t0"."smoke" = 'no'
        THEN 0
        WHEN "t0"."smoke" = 'yes'
        THEN 1
        WHEN "t0"."smoke" = 'Y'
        THEN 1
        WHEN "t0"."smoke" = 'refused'
        THEN 0
        WHEN TRIM(' 	
' FROM "t0"."smoke") = 'yes'
        THEN 1
        WHEN TRIM(' 	
' FROM "t0"."smoke") = 'Y'
        THEN 1
        ELSE 0
      END AS BIGINT) * 1
    ) + (
      CAST(IF(
        (
          "t0"."age" IS NULL
        )
        OR IS_NAN("t0"."age")
        OR "t0"."age" IN (CAST('999.0' AS DOUBLE)),
        0,
        IF(
          "t0"."age" >= CAST('40.0' AS DOUBLE),
          IF("t0"."age" >= CAST('65.0' AS DOUBLE), 3, 2),
          IF("t0"."age" >= CAST('18.0' AS DOUBLE), 1, 0)
        )
      ) AS BIGINT) * 2
    ) + (
      CAST(CASE
        WHEN CAST("t0"."dose" AS DOUBLE) = CAST('2.5' AS DOUBLE)
        THEN 2
        WHEN CAST("t0"."dose" AS DOUBLE) = CAST('0.10000000149011612' AS DOUBLE)
        THEN 1
        ELSE 0
      END AS BIGINT) * 8
    ) + (
      CASE
        WHEN "t0"."ward" BETWEEN 1 AND 4
        THEN CAST("t0"."ward" AS BIGINT) + -1
        ELSE 4
      END * 32
    ) + (
      CAST(IF(
        "t0"."paid" IS NULL,
        0,
        IF(
          CAST(CAST("t0"."paid" AS VARCHAR) AS DOUBLE) >= CAST('99.95' AS DOUBLE),
          2,
          IF(CAST(CAST("t0"."paid" AS VARCHAR) AS DOUBLE) >= CAST('0.1' AS DOUBLE), 1, 0)
        )
      ) AS BIGINT) * 256
    ) + (
      CAST(CASE WHEN "t0"."born" = CAST('2020-01-01' AS DATE) THEN 1 ELSE 0 END AS BIGINT) * 1024
    ) + (
      CAST(CASE
        WHEN "t0"."seen" = CAST('2020-01-01 12:30:00' AS TIMESTAMP(6))
        THEN 1
        ELSE 0
      END AS BIGINT) * 2048
    ) + (
      CAST(CASE
        WHEN "t0"."sent" = CAST('2020-01-01 12:30:00.000001+00:00' AS TIMESTAMP(6) WITH TIME ZONE)
        THEN 1
        ELSE 0
      END AS BIGINT) * 4096
    ) + (
      CAST(CASE WHEN "t0"."dead" = TRUE THEN 1 ELSE 0 END AS BIGINT) * 8192
    ) AS "key0"
  FROM "patients" AS "t0"
) AS "t1"
GROUP BY
  1;

SELECT
  "t1"."cell",
  COUNT(*) AS "weight"
FROM (
  SELECT
    (
      CAST(CASE
        WHEN "t0"."smoke" = 'no'
        THEN 0
        WHEN "t0"."smoke" = 'yes'
        THEN 1
        WHEN "t0"."smoke" = 'Y'
        THEN 1
        WHEN "t0"."smoke" = 'refused'
        THEN 0
        WHEN TRIM(' 	
' FROM "t0"."smoke") = 'yes'
        THEN 1
        WHEN TRIM(' 	
' FROM "t0"."smoke") = 'Y'
        THEN 1
        ELSE 0
      END AS BIGINT) * 4
    ) + CAST(IF(
      (
        "t0"."age" IS NULL
      )
      OR IS_NAN("t0"."age")
      OR "t0"."age" IN (CAST('999.0' AS DOUBLE)),
      0,
      IF(
        "t0"."age" >= CAST('40.0' AS DOUBLE),
        IF("t0"."age" >= CAST('65.0' AS DOUBLE), 3, 2),
        IF("t0"."age" >= CAST('18.0' AS DOUBLE), 1, 0)
      )
    ) AS BIGINT) AS "cell"
  FROM "patients" AS "t0"
) AS "t1"
GROUP BY
  1;
