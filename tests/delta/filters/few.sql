i = 5
j = 5
i = 5 AND j = 5
i = 5 OR j = 5
j IS NULL
st.x = 5
st.y = 5
st.x = 5 AND st.y = 5
i = 5 AND st.z.w = 'a'
st.z.w = 'a'
